"""Draws the report on a month as one page of HTML that needs nothing else: no network, no script."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from markupsafe import Markup

from bot.base.rounding import percent
from bot.charts.bars import BarCategory, BarKind, BarRow, StackedBars, stacked_bars
from bot.charts.boards import BoardMark, MarkKind, board_shapes, board_svg
from bot.charts.files import STYLE
from bot.charts.intervals import IntervalChart, IntervalRow, interval_rows
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart, Reference
from bot.charts.markup import joined, tag
from bot.charts.numbers import NumberStyle
from bot.text.verdict_text import sentences
from engine.games import get_rules
from storage.evidence.inference.verdict import TrialVerdict
from storage.evidence.statistics.groups import Expected, GroupStatistics
from storage.evidence.statistics.monthly import CostliestBait, MonthlyReport, RatedGames

_PER_CENT = NumberStyle(unit=" %")
_POINTS = NumberStyle(decimals=1, is_signed=True)
_RATING = NumberStyle(is_grouped=False)
_MOST_DAYS = 62
"""Days up to which each day is a point; a longer time is summed up by weeks."""

_STYLE = """
:root { color-scheme: light; --page: #f6f3ec; --card: #fffdf8; --sunken: #efeae0; --ink: #1c2320;
  --muted: #5b665f; --line: #ddd6c8; --accent: #17694a; --trap: #b02a45; --slip: #97620a;
  --shadow: none; --sans: system-ui, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 var(--sans); }
main { max-width: 1100px; margin: 0 auto; padding: 20px; display: grid; gap: 20px;
  grid-template-columns: minmax(0, 1fr); }
h1 { margin: 0; } h2 { margin: 0; font-size: 1.05rem; } p { margin: 0; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px;
  display: grid; gap: 12px; align-content: start; min-width: 0; }
.columns, .boards { display: grid; gap: 20px; grid-template-columns: minmax(0, 1fr); }
.muted { color: var(--muted); font-size: 0.9rem; }
table.plain { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.plain th, .plain td { text-align: right; padding: 3px 8px; border-bottom: 1px solid var(--line); }
.plain th:first-child { text-align: left; padding-left: 0; }
.plain [scope="row"] { font-weight: 400; }
.scroll { overflow-x: auto; }
@media (min-width: 800px) { .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .boards { grid-template-columns: repeat(4, minmax(0, 1fr)); } }
@media print { @page { margin: 14mm; } body { background: none; font-size: 11px; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; gap: 10px; } section { break-inside: avoid; }
  .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .boards { grid-template-columns: repeat(4, minmax(0, 1fr)); } details { display: none; }
  .scroll { overflow: visible; } }
"""
_TRAPS = (
    "Traps in the sense of Gordon and Reda's paper, by what a reply looks like to a search; the baits of the "
    "other tables are replies that the model of people expects, so their numbers differ."
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def report_page(
    report: MonthlyReport,
    title: str,
    selected: str,
    made_at: datetime,
    verdicts: Mapping[str, TrialVerdict],
) -> str:
    """The whole page.

    Args:
        report: What it shows.
        title: For instance ``November 2026``.
        selected: The filters, for readers; empty: all games.
        made_at: When the report was made.
        verdicts: What each trial says by then of its planned endpoint, by the trial's name; those that have
            none, such as trials of more than two players, are left out.
    """
    style = _STYLE + STYLE.read_text("utf-8")
    head = joined(
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),  # noqa: S704 - our own
        tag("title", f"Desdemona: {title}"),
        Markup(f"<style>{style}</style>"),  # noqa: S704 - our own files
    )
    main = tag(
        "main",
        _header(report, title, selected, made_at),
        tag("div", _card("Games by day", _games(report)), _card("Score", _score(report)), class_="columns"),
        _card("By player and game", _groups_table(report.groups)),
        tag(
            "div",
            _card("Strength against rated opponents", _performance(report.groups)),
            _card("Baits beyond expectation", _beyond(report.groups)),
            _card("What became of the traps", _fates(report.groups), tag("p", _TRAPS, class_="muted")),
            _card("Errors beyond expectation", _errors(report.groups)),
            class_="columns",
        ),
        *_ratings(report.ratings),
        *_trials(report, verdicts),
        _card("Most costly baits", _baits(report.baits)),
        _card("Events", _events(report.events)),
    )
    shapes = board_shapes(sorted({bait.game for bait in report.baits}))
    body = tag("body", shapes, main)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>{body}</html>\n'


def _card(heading: str, *content: Markup) -> Markup:
    return tag("section", tag("h2", heading), *content)


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A table; where it is wider than its screen it scrolls, by keys too."""
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", each, scope="col") for each in head))),
        tag("tbody", *(_row(*row) for row in rows)),
        class_="plain",
    )
    return tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=name)


def _row(first: str, *others: str) -> Markup:
    return tag("tr", tag("th", first, scope="row"), *(tag("td", each) for each in others))


def _header(report: MonthlyReport, title: str, selected: str, made_at: datetime) -> Markup:
    games, results = sum(day.games for day in report.days), sum(day.results for day in report.days)
    points = sum(day.points for day in report.days)
    score = f", score {points:g} of {results} ({percent(points / results, 1)})" if results else ""
    noun = "game" if games == 1 else "games"
    return tag(
        "header",
        tag("h1", f"Desdemona: {title}"),
        tag("p", f"{games:,} {noun}{score}. " + (f"Only {selected}." if selected else "All games.")),
        tag("p", f"Made {made_at:%Y-%m-%d %H:%M} UTC; days and months are those of UTC.", class_="muted"),
    )


def _summed(report: MonthlyReport) -> list[tuple[datetime, int, float, int]]:
    """Moment, games, points and results of each day, or of each week of a long time."""
    step = 1 if len(report.days) <= _MOST_DAYS else 7
    found = []
    for start in range(0, len(report.days), step):
        some = report.days[start : start + step]
        first = some[0].day
        found.append(
            (
                datetime(first.year, first.month, first.day, tzinfo=UTC),
                sum(day.games for day in some),
                sum(day.points for day in some),
                sum(day.results for day in some),
            )
        )
    return found


def _games(report: MonthlyReport) -> Markup:
    found = _summed(report)
    line = ChartLine("games", tuple(each[0] for each in found), tuple(float(each[1]) for each in found))
    return line_chart(
        LineChart(
            title="Games",
            description="How many games began, by day.",
            x_name="day",
            lines=(line,),
            limits=(0.0, max([1.0, *(float(each[1]) for each in found)])),
        )
    )


def _score(report: MonthlyReport) -> Markup:
    found = _summed(report)
    each_day, so_far, points, results = [], [], 0.0, 0
    for _, _, won, played in found:
        points, results = points + won, results + played
        each_day.append(100 * won / played if played else None)
        so_far.append(100 * points / results if results else None)
    x = tuple(each[0] for each in found)
    return line_chart(
        LineChart(
            title="Score",
            description="Points per game with a result, by day and since the beginning, in per cent.",
            x_name="day",
            lines=(ChartLine("so far", x, tuple(so_far)), ChartLine("of the day", x, tuple(each_day))),
            y_style=_PER_CENT,
            limits=(0.0, 100.0),
            references=(Reference(50.0),),
            nothing="No game has a result.",
        )
    )


def _label(group: GroupStatistics) -> str:
    return f"{group.group['player']}, {get_rules(group.group['game']).title}"


def _groups_table(groups: Sequence[GroupStatistics]) -> Markup:
    head = (
        "player",
        "games",
        "won",
        "drawn",
        "lost",
        "persons",
        "baits set",
        "taken",
        "by forecast",
        "errors",
    )
    return _table(
        "By player and game",
        (*head, "by forecast"),
        [
            (
                _label(each),
                *(f"{n:,}" for n in (each.games, each.wins, each.draws, each.losses, each.persons)),
                f"{each.baits_set:,}",
                *_beside(each.baits),
                *_beside(each.errors),
            )
            for each in groups
        ],
    )


def _beside(found: Expected) -> tuple[str, str]:
    return percent(found.happened, 1), percent(found.model, 1)


def _performance(groups: Sequence[GroupStatistics]) -> Markup:
    rows = []
    for each in groups:
        found = each.performance
        known = None not in (found.rating, found.low, found.high)
        rows.append(
            IntervalRow(
                _label(each),
                found.games,
                *((found.rating, found.low, found.high) if known else (None, None, None)),
            )
        )
    ratings = [row.value for row in rows if row.value is not None]
    return interval_rows(
        IntervalChart(
            title="Performance",
            description="The rating whose expected score is the actual one, by player and game.",
            group_name="player",
            value_name="performance",
            interval_name="95 %",
            count_name="games",
            rows=tuple(rows),
            style=_RATING,
            neutral=round(sum(ratings) / len(ratings), -2) if ratings else 1500.0,
        )
    )


def _beyond(groups: Sequence[GroupStatistics]) -> Markup:
    return _differences(
        "Baits taken less forecast",
        "How much more often baits were taken than forecast, in points of a hundred.",
        "baits",
        [(each, each.baits) for each in groups],
    )


def _errors(groups: Sequence[GroupStatistics]) -> Markup:
    return _differences(
        "Errors less forecast",
        "How much more often replies cost a tenth of the game than forecast, in points of a hundred.",
        "replies",
        [(each, each.errors) for each in groups],
    )


def _differences(
    title: str, description: str, what: str, groups: Sequence[tuple[GroupStatistics, Expected]]
) -> Markup:
    rows = []
    for each, found in groups:
        beyond = found.beyond_model
        if beyond.mean is None or beyond.low is None or beyond.high is None:
            rows.append(IntervalRow(_label(each), found.n))
        else:
            values = (100 * beyond.mean, 100 * beyond.low, 100 * beyond.high)
            rows.append(IntervalRow(_label(each), found.n, *values))
    return interval_rows(
        IntervalChart(
            title=title,
            description=description,
            group_name="player",
            value_name="difference",
            interval_name="95 % at every moment",
            count_name=what,
            rows=tuple(rows),
            style=_POINTS,
        )
    )


def _fates(groups: Sequence[GroupStatistics]) -> Markup:
    return stacked_bars(
        StackedBars(
            title="Traps in the paper's sense",
            description="Replies to moves that set a trap: the best, into a trap, another error.",
            row_name="player",
            categories=(
                BarCategory("best reply", BarKind.GOOD),
                BarCategory("fell", BarKind.TRAP),
                BarCategory("erred elsewhere", BarKind.SLIP),
            ),
            rows=tuple(
                BarRow(_label(each), (each.traps_optimal, each.traps_fell, each.traps_erred_elsewhere))
                for each in groups
            ),
            total_name="traps",
        )
    )


def _ratings(curves: Sequence[RatedGames]) -> tuple[Markup, ...]:
    if not curves:
        return ()
    cards = []
    for curve in curves:
        name = f"{get_rules(curve.game).title}, {curve.speed}: {curve.account} at {curve.site}"
        x, y = tuple(at for at, _ in curve.points), tuple(float(rating) for _, rating in curve.points)
        chart = LineChart(
            title=name,
            description="Our rating at the start of each rated game.",
            x_name="game",
            lines=(ChartLine("rating", x, y),),
            y_style=_RATING,
        )
        cards.append(_card(f"Rating: {name}", line_chart(chart)))
    return (tag("div", *cards, class_="columns"),)


def _trials(report: MonthlyReport, verdicts: Mapping[str, TrialVerdict]) -> tuple[Markup, ...]:
    if not report.trials:
        return ()
    rows = [
        (
            trial.name,
            f"{trial.started_at:%Y-%m-%d}",
            "open" if trial.ended_at is None else f"{trial.ended_at:%Y-%m-%d}",
            str(trial.endpoint),
            ", ".join(f"{arm} {count}" for arm, count in counts.items()),
            f"{trial.games:,}",
        )
        for trial, counts in report.trials
    ]
    head = ("trial", "started", "ended", "compares", "games of these days", "games in all")
    found = [
        tag("p", tag("strong", f"{trial.name}: "), " ".join(sentences(verdicts[trial.name])))
        for trial, _ in report.trials
        if trial.name in verdicts
    ]
    told = "Verdicts count all games of a trial until this report was made."
    return (_card("Trials", _table("Trials", head, rows), *found, tag("p", told, class_="muted")),)


def _baits(baits: Sequence[CostliestBait]) -> Markup:
    if not baits:
        return tag("p", "No bait was taken.")
    boards = []
    for bait in baits:
        marks = (BoardMark(MarkKind.BAIT, bait.bait_squares),)
        title = f"{get_rules(bait.game).title}: after our {bait.move}, {bait.opponent} replied {bait.reply}"
        board = board_svg(
            bait.game,
            bait.rows,
            title=title,
            side=bait.our_side,
            last_move=bait.move_squares,
            marks=marks,
        )
        told = (
            f"{bait.move}, then {bait.reply}: cost {percent(bait.cost)} of the game, "
            f"expected of {percent(bait.probability)} of people"
        )
        where = f"{bait.opponent}, {bait.site} {bait.site_game_id}, {bait.at.astimezone(UTC):%Y-%m-%d}"
        boards.append(tag("div", board, tag("p", told), tag("p", where, class_="muted")))
    return tag("div", *boards, class_="boards")


def _events(events: Sequence[tuple[str, int]]) -> Markup:
    if not events:
        return tag("p", "Nothing happened that is no move.")
    rows = [(kind.replace("_", " "), f"{count:,}") for kind, count in events]
    return _table("Events", ("what", "times"), rows)
