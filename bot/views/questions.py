"""Ten questions that operators often ask, each with a command and a page that answer it in one step."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question."""

    text: str
    command: str
    """Arguments for `desdemona`, in which ``MONTH`` stands for the first day of this month."""
    link: str
    """URL of the page, with ``MONTH`` as above."""

    def at(self, now: datetime) -> "Question":
        """Return the question with its command and URL for the month of `now`."""
        first = f"{now:%Y-%m}-01"
        return Question(self.text, self.command.replace("MONTH", first), self.link.replace("MONTH", first))


QUESTIONS = (
    Question("Do traps work this month?", "page works --since MONTH", "/dash/works?since=MONTH"),
    Question(
        "Which trap works best against people rated 1500 to 1700?",
        "page traps --people --min-rating 1500 --max-rating 1700 --sort taken",
        "/dash/traps?opponents=people&min-rating=1500&max-rating=1700&sort=taken",
    ),
    Question(
        "Which opponents take baits, and which return?",
        "page opponents --sort baits-taken",
        "/dash/opponents?sort=baits-taken",
    ),
    Question(
        "What are the results by week, game and rating band?",
        "page results --by week,game,rating-band",
        "/dash/results?by=week,game,rating-band",
    ),
    Question("What is the bot doing right now?", "status", "/dash"),
    Question("Is it healthy?", "status", "/dash"),
    Question("Which errors, time-outs and declines were there?", "page events", "/dash/events"),
    Question("How long do moves take, and how much lag is there?", "page events", "/dash/events#thinking"),
    Question("How did our ratings develop?", "page ratings", "/dash/ratings"),
    Question("How many more games until we know?", "page works", "/dash/works"),
)
"""The questions in the order of the operator's guide, "Ten questions"."""


def questions(now: datetime) -> tuple[Question, ...]:
    """Return the ten questions for the month of `now`, in the time zone of `now`."""
    return tuple(question.at(now) for question in QUESTIONS)
