"""Every number of a game's page is that of a recomputation from its exported records."""

import re
from collections import Counter
from datetime import timedelta
from typing import Any

from engine.games import get_rules
from tests.bot.dashboard.numbers import printed
from tests.bot.dashboard.numbers.drawings import check_drawings
from tests.bot.dashboard.numbers.exported import Exported, Row
from tests.bot.dashboard.numbers.moments import WON, Moment, percentage, probability_text, to_depth
from tests.bot.dashboard.numbers.nearly import nearly
from tests.bot.dashboard.numbers.recount import (
    DASH,
    TITLES,
    at,
    counts,
    is_unjudged,
    of_day,
    percent,
    plural,
    rounded,
    span,
)
from tests.bot.dashboard.numbers.sample_database import DRAW_GAME
from tests.bot.dashboard.numbers.test_lists import ended
from tests.bot.views.conftest import Visitor

_SECONDS = "%Y-%m-%d %H:%M:%S"
_STATES = {"sent": "the server accepted it", "confirmed": "the server shows it"}

_OF_BAIT = ("reply", "probability", "cost", "judge_depth", "is_solved")
_OF_REPLY = ("reply", "scores_centi", "final_centi", "judged", "probability")
_OF_JUDGED = ("cost", "score_centi", "judge_depth", "is_solved")
_OF_CANDIDATE = ("move", "raw_centi", "raw_is_bound", "adjusted_centi", "quality_centi")

# --- The verdict -------------------------------------------------------------------------------------------


class Story:
    """What the page tells of one of our moves.

    Args:
        data: The exports.
        key: Of the decision.
    """

    def __init__(self, data: Exported, key: int) -> None:
        self.moment = Moment(data, key)
        self.row = data.decision[key]
        self.game = data.game[self.row["game_id"]]
        name = self.game["opponent"]
        short = name if len(name) <= 40 else f"{name[:39]}\N{HORIZONTAL ELLIPSIS}"
        is_plain = name.isascii()
        self.who = short if is_plain else f"\N{FIRST STRONG ISOLATE}{short}\N{POP DIRECTIONAL ISOLATE}"
        self.baits = self.moment.baits if self.row["is_decided"] == 0 else []
        self.bait_names = {bait["reply"] for bait in self.baits}

    @property
    def kind(self) -> str:
        moment, judged = self.moment, self.moment.judged
        if not self.row["is_complete"]:
            return "pending"
        if moment.played is None:
            return "open" if self.baits else "rest"
        if judged is None:
            return "judging"
        if moment.played in self.bait_names:
            return "fell"
        if judged["cost"] >= 1000:
            return "slipped" if self.baits else "slip"
        if moment.is_lost:
            return "decided"
        if judged["cost"] < 500:
            return "saw" if self.baits else "calm"
        return "avoided" if self.baits else "loose"

    @property
    def _best_centi(self) -> int:
        return int(self.moment.costs[self.moment.best or ""]["score_centi"])

    def title(self) -> str:
        many = len(self.baits) > 1
        return {
            "pending": "Still being analysed",
            "open": "A trap that was never answered",
            "rest": "The last move",
            "fell": f"{self.who} took {'a' if many else 'the'} bait",
            "saw": f"{self.who} saw through the trap{'s' if many else ''}",
            "calm": f"{'No trap, and ' if self.moment.is_checked else ''}{self.who} found a good reply",
            "avoided": "Trap avoided, best reply missed",
            "slipped": "Trap avoided, but a slip",
            "judging": "Not judged yet",
            "slip": "A slip",
            "loose": "Not quite the best reply",
            "decided": "Already decided",
        }[self.kind]

    def lines(self, trap: Row | None) -> list[str]:
        """
        Args:
            trap: The paper's, as in the JSON.
        """
        moment, kind = self.moment, self.kind
        traps = [moment.told(number) for number in range(len(self.baits))]
        said = [*self._drawn(), *traps, *self.outcome(kind), *self._for_what(), *self._paper(trap)]
        return [*said, *self._facts(kind)]

    def _paper(self, trap: Row | None) -> list[str]:
        if not self.row["is_complete"]:
            return []
        at_depth = f"at depth {self.moment.record['depth']}"
        if trap is None:
            return [f"No trap in the paper's sense {at_depth}."]
        if not self.row["is_trap"]:
            return [f"No trap in the paper's sense {at_depth} that is large enough to count."]
        quality = percent(self.row["trap_quality"] / 100, 1)
        said = f"The paper's trap {at_depth}: {trap['name']}, quality {quality}."
        outcome = self.moment.outcome
        if outcome is None or outcome["reply"] is None:
            return [said]
        best = " for the best trap" * bool(outcome["fell_for_best"])
        return [f"{said} Figure 9 at that depth: {outcome['kind'].replace('_', ' ')}{best}."]

    def _drawn(self) -> list[str]:
        moment, draw = self.moment, self.moment.record.get("trial_draw")
        if draw is None:
            return []
        other = next(each for each in (draw["trap"], draw["control"]) if each != moment.record["move"])
        return [
            f"A random draw decided between this move and {moment.name(other)}: one of them sets a trap, "
            "the other does not."
        ]

    def outcome(self, kind: str) -> list[str]:
        moment, account = self.moment, self.game["account"]
        if kind == "open" and moment.outcome is None:
            return []
        if moment.played is None:
            return [f"The game ended before {account}'s move was answered."]
        if kind == "pending":
            return [f"{account} is still working out what the replies were worth."]
        reply, best = moment.reply_name(moment.played), moment.reply_name(moment.best or moment.played)
        if kind == "judging":
            return [f"{self.who} played {reply}. A deep search that judges the reply has not run yet."]
        missed = f"{reply} cost {moment.price()}; {best} was better."
        left = f"{self.who} left the bait{'s' * (len(moment.baits) > 1)} alone, but {missed}"
        found = f"{self.who} played {reply}, one of the best replies."
        good = found if moment.is_best(moment.played) else missed
        return [
            {
                "fell": f"{self.who} played {reply}; {best} was the reply to find.",
                "saw": good,
                "calm": good,
                "avoided": left,
                "slipped": left,
                "slip": f"{self._before}{missed}",
                "loose": f"{self._before}{missed}",
                "decided": f"{account} is winning by far here, whatever the reply.",
            }[kind]
        ]

    @property
    def _before(self) -> str:
        if self._best_centi >= WON:
            return f"{self.who} could win by force here. "
        return "There was no bait here. " * (self.moment.is_checked and not self.row["is_decided"])

    @property
    def standard(self) -> Row:
        """The best move by plain minimax."""
        exact = [each for each in self.moment.record["candidates"] if not each["raw_is_bound"]]
        best: Row = max(exact, key=lambda each: each["raw_centi"])
        return best

    def _for_what(self) -> list[str]:
        moment, standard = self.moment, self.standard
        if standard["move"] == moment.record["move"] or moment.record["search_mode"] != "exact":
            return []
        theirs, ours = (
            moment.score(centi, moment.before) for centi in (standard["raw_centi"], moment.raw_centi)
        )
        return [
            f"Plain minimax would have played {moment.name(standard['move'])} ({theirs}); "
            f"{self.game['account']} preferred {moment.name(moment.record['move'])} ({ours}) for the replies "
            "that it invites."
        ]

    def _facts(self, kind: str) -> list[str]:
        moment, judged = self.moment, self.moment.judged
        names = [bait["reply"] for bait in self.baits if bait["reply"] != moment.played]
        found = [f"{moment.reply_name(reply)} {moment.seen(reply)}" for reply in names]
        is_best = moment.is_best(moment.played)
        has_cost = judged is not None and not is_best and kind != "decided"
        if moment.played is not None and moment.scores:
            parts = [moment.seen(moment.played)] if kind == "fell" or not has_cost else []
            parts += [f"cost {moment.price()}"] if has_cost else []
            if (probability := moment.probability(moment.played)) is not None:
                parts.append(f"expected of {percentage(probability)} of people")
            term = f"{self.who} {'took' if kind == 'fell' else 'played'}"
            found += [term] if re.search("[0-9]", term) else []
            found.append(f"{moment.reply_name(moment.played)} {', '.join(parts)}")
        if has_cost and moment.best is not None:
            found.append(f"{moment.reply_name(moment.best)} {moment.seen(moment.best)}")
        return found

    def chart(self) -> list[str]:
        """How two replies look by depth."""
        moment, best = self.moment, self.moment.best
        baits = [reply for reply in moment.scores if reply in self.bait_names]
        taken = [reply for reply in baits if reply == moment.played]
        played = [] if moment.played is None else [moment.played]
        other = next((each for each in (*taken, *baits, *played) if each != best), None)
        if best is None or other is None or len(moment.scores.get(best, [])) < 2:
            return []
        names = [moment.reply_name(each) for each in (best, other)]
        legend = [f"{names[0]}, best", f"{names[1]}, {'bait' if other in baits else 'played'}"]
        lines = [self._line(each) for each in (best, other)]
        rows = [
            " | ".join((str(plies), *(line.get(plies, "") for line in lines))).rstrip(" |")
            for plies in sorted({*lines[0], *lines[1]})
        ]
        description = (
            f"Expected score after {names[0]} and {names[1]}, from the opponent's view; "
            f"beyond depth {moment.record['depth']}, the judge's."
        )
        return [description, *legend, f"plies ahead | {' | '.join(legend)}", *rows]

    def _line(self, reply: str) -> dict[int, str]:
        """The opponent's expected score by depth; the judge's is deeper."""
        moment = self.moment
        found = {at: percent(1 - moment.worth(s)) for at, s in enumerate(moment.scores[reply], start=2)}
        judged = moment.costs.get(reply)
        if judged is not None and judged["depth"] + 1 > max(found):
            found[judged["depth"] + 1] = percent(moment.worth(judged["score_centi"]))
        return found

    # --- JSON -------------------------------------------------------------------------------------------

    def json(self) -> Row:
        """What the JSON of the decision says in numbers."""
        moment, is_complete = self.moment, self.row["is_complete"]
        forecast = None
        if moment.forecast is not None and is_complete:
            baits = [
                _judged(bait) | {"reply": bait["reply"], "probability": bait["odds"]} for bait in moment.baits
            ]
            for bait in baits:
                del bait["score_centi"]
            is_taken = moment.played in [bait["reply"] for bait in baits]
            forecast = {
                "error_probability": self.error_probability,
                "baits": baits,
                "is_judged": moment.is_checked,
                "is_taken": is_taken if baits and moment.played is not None else None,
            }
        quality = self.row["trap_quality"]
        return {
            "ply": self.row["ply"],
            "number": _number(self.game, self.row["ply"]),
            "count": _count(self.game, self.row["ply"]),
            "depth": moment.record["depth"],
            "is_trap": None if self.row["is_trap"] is None else bool(self.row["is_trap"]),
            "cost": None if moment.judged is None else moment.judged["cost"],
            "trap": 100 * quality if quality else None,
            "replies": [
                {
                    "reply": reply,
                    "scores_centi": scores,
                    "final_centi": scores[-1],
                    "judged": _judged(moment.costs[reply]) if reply in moment.costs else None,
                    "probability": moment.probability(reply),
                }
                for reply, scores in moment.scores.items()
            ],
            "candidates": [
                {name: each[name] for name in _OF_CANDIDATE} for each in moment.record["candidates"]
            ],
            "forecast": forecast,
        }

    @property
    def error_probability(self) -> float:
        """How likely an error was."""
        moment = self.moment
        return sum(moment.probability(reply) or 0 for reply in moment.scores if moment.cost(reply) >= 0.1)

    # --- Tables -----------------------------------------------------------------------------------------

    def replies(self) -> list[str]:
        moment = self.moment
        if not moment.scores:
            return []
        deepest = moment.record["depth"]
        depths = [depth for depth in (2, 3) if depth < deepest] + [deepest]
        heads = ("Reply", *(f"At depth {n}" for n in depths), "Judge's cost", "Judge's depth", "Expected")
        lines = [" | ".join(heads)]
        for reply in moment.ordered:
            tags = " best" * moment.is_best(reply) + " bait" * (reply in self.bait_names)
            scores = dict(enumerate(moment.scores[reply], start=2)) | {deepest: moment.scores[reply][-1]}
            judged = moment.costs.get(reply)
            cells = (
                *(moment.score(-scores[depth]) if depth in scores else DASH for depth in depths),
                DASH if judged is None else percent(judged["cost"] / 10_000, 1),
                DASH if judged is None else "solved" if judged["is_solved"] else str(judged["depth"] + 1),
                probability_text(moment.probability(reply)),
            )
            name = f"{moment.reply_name(reply)}{tags}{' played' * (reply == moment.played)}"
            lines.append(" | ".join((name, *cells)))
        unit = f", in {moment.unit}" if moment.unit else ""
        by = ""
        if moment.forecast is not None:
            model = moment.forecast["model"]
            by = f", by a model of people ({model['name']})"
            if model["kind"] == "looks":
                by = ", judged by shallow scores"
        note = (
            f"Their view{unit}. Depths count plies from our move on. Judge's cost: a share of the game, "
            "by a deep search of the reply played, the best one, the likeliest two, and in positions of the "
            "trainer every reply. "
            f"Expected: probability that people play it{by}."
        )
        return [*lines, note]

    @property
    def _other(self) -> str | None:
        """The move that the draw left out."""
        draw = self.moment.record.get("trial_draw")
        if draw is None:
            return None
        return str(next(draw[n] for n in ("trap", "control") if draw[n] != self.moment.record["move"]))

    def candidates(self, judged: list[Row]) -> list[str]:
        """
        Args:
            judged: The candidates of the JSON, of which only the paper's traps are taken.
        """
        moment, lines = self.moment, []
        paper = {
            each["move"]: "?" if each["sets_trap"] is None else each["set_trap_name"] or DASH
            for each in judged
        }
        found = moment.record["candidates"]
        for each in sorted(found, key=lambda each: (-each["adjusted_centi"], -each["raw_centi"])):
            tags = " played" * (each["move"] == moment.record["move"])
            tags += " best score" * (each["move"] == self.standard["move"])
            tags += " drawn against" * (each["move"] == self._other)
            is_bound, trap = each["raw_is_bound"], each.get("trap")
            after = moment.rules.play(moment.before, moment.rules.parse_move(moment.before, each["move"]))
            cells = (
                f"{'≤ ' * is_bound}{moment.score(each['raw_centi'], moment.before)}",
                DASH if is_bound else moment.score(each["adjusted_centi"], moment.before),
                DASH if trap is None else moment.name(trap, after),
                paper[each["move"]],
            )
            lines.append(" | ".join((f"{moment.name(each['move'])}{tags}", *cells)))
        return lines

    def expected(self) -> list[str]:
        moment, forecast = self.moment, self.moment.forecast
        if forecast is None or not self.row["is_complete"]:
            return []
        baits = [
            f"A bait | {moment.reply_name(bait['reply'])}: {probability_text(bait['odds'])} likely, "
            f"costs {to_depth(percent(bait['cost'] / 10_000), bait)}"
            for bait in moment.baits
        ]
        error = f"An error | {probability_text(self.error_probability)}"
        return [error, *baits, f"Model | {forecast['model']['name']}"]

    def draw(self) -> list[str]:
        draw = self.moment.record.get("trial_draw")
        if draw is None:
            return []
        trap, sound = (self.moment.name(draw[name]) for name in ("trap", "control"))
        worths = [percent(draw[name] / 10_000, 1) for name in ("trap_value", "control_value")]
        return [
            f"A random draw decided between {trap}, which sets a trap and is worth {worths[0]}, and {sound}, "
            f"which sets none and is worth {worths[1]}. The trap had a probability of "
            f"{percent(draw['params']['chance'])}; drawn: {self.moment.name(self.moment.record['move'])}. "
            f"Seed {draw['seed']}. Shares are our expected score.",
        ]


def _judged(found: Row) -> Row:
    """A reply's costs as JSON has them; its depth counts our move, too."""
    return {name: found["depth"] + 1 if name == "judge_depth" else found[name] for name in _OF_JUDGED} | {
        "is_solved": bool(found["is_solved"])
    }


# --- The game ----------------------------------------------------------------------------------------------


def _marks(data: Exported, game: int) -> list[Row]:
    baits = {bait["decision_id"]: bait for bait in data.baits_of[game]}
    same = ("decision_id", "ply", "move", "state", "depth", "time_s")
    found = []
    for row in data.decisions_of[game]:
        key = row["decision_id"]
        outcome, bait = data.outcome.get(key), baits.get(key)
        is_taken = None if bait is None or bait["is_taken"] is None else bool(bait["is_taken"])
        times: list[Any] = [at(row["at"])]
        for name in ("send_s", "confirm_s"):
            later = times[-1] is not None and row[name] is not None
            times.append(times[-1] + timedelta(seconds=row[name]) if later else None)
        found.append(
            {
                **{name: row[name] for name in same},
                "is_complete": bool(row["is_complete"]),
                "is_decided": None if row["is_decided"] is None else bool(row["is_decided"]),
                "bait": None if bait is None else bait["bait"],
                "is_taken": is_taken,
                "cost": None if outcome is None else outcome["cost"],
                "is_slip": outcome is not None and bool(outcome["is_error"] and not is_taken),
                "is_unjudged": outcome is not None and is_unjudged(data, outcome),
                **{
                    name: None if time is None else f"{time:%Y-%m-%dT%H:%M:%SZ}"
                    for name, time in zip(("created_at", "sent_at", "confirmed_at"), times, strict=True)
                },
                "reply_time_s": None if outcome is None else outcome["reply_time_s"],
            }
        )
    return found


def _names(game: Row) -> list[str]:
    """The moves as people write them."""
    rules: Any = get_rules(game["game"])
    start = game["initial_position"]
    position = rules.initial() if start is None else rules.parse_position(start)
    found = []
    for text in game["moves"].split():
        move = rules.parse_move(position, text)
        found.append(rules.move_name(position, move))
        position = rules.play(position, move)
    return found


def _bait_outcome(mark: Row) -> str:
    words = {None: ", bait not answered", True: ", bait taken", False: ", bait left alone"}
    bait = "" if mark["bait"] is None else words[mark["is_taken"]]
    return bait + ", a slip" * bool(mark["is_slip"])


def _count(game: Row, ply: int) -> int:
    return sum(move != "pass" for move in game["moves"].split()[: ply + 1])


def _number(game: Row, ply: int) -> int:
    """In chess and xiangqi a number counts a move of each side."""
    return ply // 2 + 1 if game["game"] in ("chess", "xiangqi") else _count(game, ply)


def _moves(game: Row, names: list[str], marks: list[Row]) -> list[str]:
    outcomes = {mark["ply"]: _bait_outcome(mark) for mark in marks}
    told = [f"{name}{outcomes.get(ply, '')}" for ply, name in enumerate(names)]
    firsts = [
        n // 2 + 1 if game["game"] in ("chess", "xiangqi") else _count(game, n - 1) + 1
        for n in range(len(told))
    ]
    return [f"{firsts[n]}{''.join(told[n : n + 2])}" for n in range(0, len(told), 2)]


def _head(data: Exported, game: Row) -> list[str]:
    rules: Any = get_rules(game["game"])
    found = counts(data, [game])
    rating = "" if game["opponent_rating"] is None else f" {game['opponent_rating']}"
    ours = "" if game["our_rating"] is None else f", {game['our_rating']}"
    clock = ""
    if game["clock_initial_s"] is not None:
        minutes = {180: "3", 45: "0.75"}[game["clock_initial_s"]]
        clock = f", {minutes}+{game['clock_increment_s'] or 0}"
    return [
        f"Games · {TITLES[game['game']]} · {game['site']} · {game['account']} · {game['site_game_id']}",
        f"{game['opponent']}{rating}",
        f"{ended(game)} {printed.reason_text(game['end_reason'])}",
        f"{game['strategy']} with {rules.sides[_side(game)]}{ours}, engine {game['engine_version']}",
        f"{'rated' if game['rated'] else 'casual'} {game['speed']}{clock}",
        *(["match m1"] if game["site"] == "match" else []),
        of_day(game["started_at"], "%Y-%m-%d %H:%M"),
        f"{found.baits_taken} of {found.baits_set} baits taken",
        plural(found.slips, "slip"),
        *(
            [f"{plural(found.unjudged, 'reply').replace('replys', 'replies')} not judged yet"]
            if found.unjudged
            else []
        ),
    ]


def _stepper(marks: list[Row], ply: int) -> str:
    number = [mark["ply"] for mark in marks].index(ply) + 1
    earlier = "← Earlier" * (number > 1)
    return f"{earlier}our move {number} of {len(marks)}{' Later →' * (number < len(marks))}"


def _record(mark: Row) -> list[str]:
    took = "not timed" if mark["reply_time_s"] is None else f"after {span(mark['reply_time_s'])}"
    times = [mark[name] for name in ("created_at", "sent_at", "confirmed_at")]
    return [
        f"State | {mark['state']}: {_STATES[mark['state']]}",
        f"Their reply | {took}",
        *(
            f"{name} | {of_day(time.replace('T', ' ')[:19], _SECONDS)}"
            for name, time in zip(("Decided", "Sent", "Confirmed"), times, strict=True)
            if time is not None
        ),
    ]


def _page(data: Exported, story: Story, told: Row) -> list[str]:
    game, ply = story.game, story.row["ply"]
    marks = _marks(data, game["game_id"])
    name = story.moment.name(story.moment.record["move"])
    pages = [
        *_head(data, game),
        _stepper(marks, ply),
        f"Move {_number(game, ply)} · we played {name} · depth {story.moment.record['depth']}, "
        f"{rounded(story.moment.record['time_s'], 2)} s",
        story.title(),
        *story.lines(told["trap"]),
        *story.chart(),
        *_moves(game, _names(game), marks),
        *story.draw(),
        *story.replies(),
        *story.candidates(told["candidates"]),
        *story.expected(),
        *_record(next(mark for mark in marks if mark["ply"] == ply)),
    ]
    return [" ".join(line.split()) for line in pages if any(each.isdigit() for each in line)]


def _told(decision: Row) -> Row:
    """The part of the JSON of a decision that `Story.json` has."""

    def parts(found: list[Row], names: tuple[str, ...]) -> list[Row]:
        return [{name: each[name] for name in names} for each in found]

    trap, forecast = decision["trap"], decision["forecast"]
    if forecast is not None:
        baits = parts(forecast["baits"], _OF_BAIT)
        same = ("error_probability", "is_judged", "is_taken")
        forecast = {name: forecast[name] for name in same} | {"baits": baits}
    replies = parts(decision["replies"], _OF_REPLY)
    for each in replies:
        if each["judged"] is not None:
            (each["judged"],) = parts([each["judged"]], _OF_JUDGED)
    return {
        **{name: decision[name] for name in ("ply", "number", "count", "depth", "is_trap", "cost")},
        "trap": None if trap is None else trap["quality"],
        "replies": replies,
        "candidates": parts(decision["candidates"], _OF_CANDIDATE),
        "forecast": forecast,
    }


KINDS = {
    *(
        "fell",
        "saw",
        "avoided",
        "slipped",
        "open",
        "calm",
        "decided",
        "slip",
        "loose",
        "mate",
        "pending",
        "rest",
    ),
    "judging",
}


def _chosen(data: Exported) -> dict[str, Story]:
    """A move of ours of each kind, of all games in turn; one that ended its game, and the one at random."""
    used: Counter[str] = Counter()
    found: dict[str, Story] = {}
    for key in data.decision:
        outcome = data.outcome.get(key)
        if outcome is not None and not (outcome["is_current"] and outcome["is_forecast_current"]):
            continue
        story = Story(data, key)
        if story.game["game_id"] == DRAW_GAME:
            found["draw"] = story
            continue
        if not story.moment.scores:
            found.setdefault("mate", story)
            continue
        game = story.game["game"]
        if story.kind not in found and used[game] == min(used[each] for each in TITLES):
            found[story.kind] = story
            used[game] += 1
        if found.keys() == {*KINDS, "draw"}:
            break
    return found


def _side(game: Row) -> int:
    """Our side; the export says instead whether we move first."""
    rules, start = get_rules(game["game"]), game["initial_position"]
    first = 0 if start is None else rules.side_to_move(rules.parse_position(start))
    return int((game["our_side"] + first) % 2)


async def test_game(visitor: Visitor, exported: Exported) -> None:
    chosen = _chosen(exported)
    assert chosen.keys() == {*KINDS, "draw"}
    for kind, story in chosen.items():
        game, ply = story.game, story.row["ply"]
        told = await visitor.json(f"/dash/api/game/{game['game_id']}?ply={ply}")
        assert told["our_moves"] == nearly(_marks(exported, game["game_id"])), kind
        assert told["names"] == _names(game), kind
        assert told["our_side"] == _side(game), kind
        same = ("our_rating", "opponent_rating", "clock_initial_s", "clock_increment_s")
        assert {name: told[name] for name in same} == {name: game[name] for name in same}, kind
        assert _told(told["decision"]) == nearly(story.json()), kind
        html = await visitor.text(f"/dash/games/{game['game_id']}?ply={ply}")
        assert printed.numbers(html) == _page(exported, story, told["decision"]), kind
        check_drawings(html)
