"""The games of a simulated day."""

from tests.bot.threads.crowd import Row

Clocks = tuple[tuple[int, int], ...]
"""Initial time and increment of each speed, in seconds."""

SPEEDS: Clocks = ((60, 0), (180, 0), (600, 0), (1800, 0))
INCREMENTS: Clocks = ((60, 1), (180, 2), (600, 5), (1800, 0))
PAUSES_S = (3, 8, 20, 40)


def day_rows(speeds: Clocks, games: int = 1) -> list[Row]:
    """Three accounts; each plays one game after another at each speed, or several at once."""
    return [
        Row(account, *clock, pause_s, number=number)
        for account in range(3)
        for number in range(games)
        for clock, pause_s in zip(speeds, PAUSES_S, strict=True)
    ]
