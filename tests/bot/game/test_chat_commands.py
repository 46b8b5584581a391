"""What is a question in the chat, and the answers."""

from dataclasses import fields, replace

import pytest

from bot.base.config import ChatConfig
from bot.base.events import MAX_CHAT_LENGTH, ChatLine, Room
from bot.game.chat_commands import ChatFacts, Command, answer_text, may_show, parse_command
from engine import ENGINE_VERSION
from engine.bait_rule import FORECAST_RULE
from engine.decision import Candidate, Decision, DirectMove, ModelInfo
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.params import TrapParams
from engine.strategies.registry import STRATEGIES
from storage.evidence.statistics.encounters import Encounters
from tests.storage.samples import drawn_decision

FACTS = ChatFacts(
    bot="Desdemona", opponent="Anna", strategy="trappy", is_over=True, is_blind=False, may_show=False
)
SECRET = replace(FACTS, is_over=False)
CHESS = get_rules("chess")
KNIGHT = Candidate("g1f3", 35, False, 60, quality_centi=200, trap="e7e5", complete=True)
DECISION = Decision(
    game="chess",
    position=CHESS.position_text(CHESS.initial()),
    strategy="trappy",
    params=TrapParams(),
    move="g1f3",
    candidates=(KNIGHT,),
    depth=6,
    principal_variation=("g1f3",),
    nodes=1,
    time_s=0.1,
    profile_source="native",
    engine_version=ENGINE_VERSION,
)
BEST, BAIT = ReplyCost("d7d5", 10, 0, 14, is_solved=False), ReplyCost("e7e5", -90, 1490, 13, is_solved=False)
FORECAST = ReplyForecast(
    FORECAST_RULE,
    ModelInfo("maia", "maia", ""),
    "",
    ("e7e5", "d7d5"),
    (0.24, 0.76),
    (),
    ReplyCosts(JUDGE_VERSION, BEST, (BEST, BAIT)),
    ("e7e5",),
)


def test_a_model_of_people_says_that_it_is_one() -> None:
    like = replace(FACTS, strategy="like", like_rating=1300)
    for facts in (like, replace(like, is_over=False)):
        text = answer_text(Command.ENGINE, facts)
        assert "A model of how people rated 1300 play draws my moves; I am no person." in text
        assert len(text) <= MAX_CHAT_LENGTH


def line(text: str, name: str = "Anna", room: Room = Room.PLAYER) -> ChatLine:
    return ChatLine(name, room, text)


@pytest.mark.parametrize("command", Command)
@pytest.mark.parametrize("form", ["{}", " {} ", "{} please", "{}\n"])
def test_questions(command: Command, form: str) -> None:
    assert parse_command(line(form.format(command)), "Desdemona") is command
    assert parse_command(line(form.format(command.upper())), "Desdemona") is command


@pytest.mark.parametrize(
    "text", ["", "   ", "hello", "help", "!", "!helpme", "! help", "say !help", "!ping", "‮!help"]
)
def test_no_questions(text: str) -> None:
    assert parse_command(line(text), "Desdemona") is None


@pytest.mark.parametrize("name", ["Desdemona", "desdemona"])
def test_own_lines_and_those_of_the_site(name: str) -> None:
    assert parse_command(line("!help", name), "Desdemona") is None
    assert parse_command(replace(line("!help"), by_site=True), "Desdemona") is None


def test_help_names_the_others() -> None:
    assert answer_text(Command.HELP, SECRET) == "I am a program. Ask me !engine, !eval, !trap, !stats."


@pytest.mark.parametrize("command", [Command.EVAL, Command.TRAP])
def test_secrets(command: Command) -> None:
    told = answer_text(command, replace(SECRET, latest=DECISION, forecast=FORECAST))
    assert told == "I keep that to myself while we play."
    assert answer_text(command, FACTS) == "I have not moved yet."


@pytest.mark.parametrize("command", Command)
def test_while_it_is_blind_no_answer_depends_on_the_player(command: Command) -> None:
    decisions = (
        None,
        DECISION,
        replace(DECISION, depth=9),
        replace(DECISION, candidates=(replace(KNIGHT, complete=False),)),
    )
    told = {
        answer_text(
            command,
            replace(
                FACTS,
                is_blind=True,
                strategy=player,
                is_over=is_over,
                may_show=may_show,
                latest=latest,
            ),
        )
        for player in STRATEGIES
        for is_over in (False, True)
        for may_show in (False, True)
        for latest in decisions
    }
    assert len(told) == 1
    if command in (Command.EVAL, Command.TRAP):
        assert told == {"I keep that to myself."}
    if command is Command.ENGINE:
        assert told.pop().endswith("Some of my moves set traps, others do not; I do not say which.")


def test_who_may_be_told() -> None:
    quiet, open_to_watchers = ChatConfig(), ChatConfig(spectator_commands=True)
    watcher = ChatLine("Bert", Room.SPECTATOR, "!eval")
    assert may_show(watcher, "Anna", open_to_watchers)
    assert not may_show(watcher, "Anna", quiet)
    assert not may_show(replace(watcher, name="ANNA"), "Anna", open_to_watchers)
    assert not may_show(replace(watcher, room=Room.PLAYER), "Anna", open_to_watchers)
    told = answer_text(Command.TRAP, replace(SECRET, may_show=True, latest=DECISION, forecast=FORECAST))
    assert told == answer_text(Command.TRAP, replace(FACTS, latest=DECISION, forecast=FORECAST))


def test_the_player_is_a_secret_too() -> None:
    during = {answer_text(Command.ENGINE, replace(SECRET, strategy=kind)) for kind in STRATEGIES}
    assert len(during) == 1
    after = {answer_text(Command.ENGINE, replace(FACTS, strategy=kind)) for kind in STRATEGIES}
    assert len(after) == len(STRATEGIES)
    assert all(ENGINE_VERSION in told for told in during | after)


def test_what_the_engine_thinks() -> None:
    told = answer_text(Command.EVAL, replace(FACTS, latest=DECISION))
    assert told == "For me, Nf3 was worth +0.35 at depth 6."
    picked = replace(DECISION, pick=DirectMove(-120, 14, 73, False))
    assert (
        answer_text(Command.EVAL, replace(FACTS, latest=picked)) == "For me, Nf3 was worth -1.20 at depth 14."
    )
    from_book = replace(DECISION, pick=DirectMove(20, 0, 0, False))
    assert answer_text(Command.EVAL, replace(FACTS, latest=from_book)) == "For me, Nf3 was worth +0.20."


def test_the_trap() -> None:
    def told(made: ReplyForecast | None, candidate: Candidate = KNIGHT) -> str:
        latest = replace(DECISION, candidates=(candidate,))
        return answer_text(Command.TRAP, replace(FACTS, latest=latest, forecast=made))

    assert told(FORECAST) == "24 % of people reply e5 to Nf3. It costs 15 % of the game to depth 14."
    assert told(replace(FORECAST, bait_replies=())) == "I know of no error that Nf3 tempts people to make."
    for unknown in (replace(FORECAST, costs=None, bait_replies=()), None):
        assert told(unknown) == "I am still working out what people reply to Nf3."
    assert told(None, replace(KNIGHT, complete=False)) == "I am still working out what Nf3 does."


def test_the_figures_of_all_players_together() -> None:
    before = Encounters(games=7, wins=4, draws=1, losses=2, baits_set=9, baits_taken=4, slips=5)
    told = answer_text(Command.STATS, replace(SECRET, earlier=before))
    assert told == ("Anna against me before: 2 won, 1 drawn, 4 lost. Traps set: 9, baits taken: 4; slips: 5.")
    told = answer_text(Command.STATS, replace(SECRET, earlier=replace(before, unjudged=12)))
    assert told.endswith("baits taken: 4; slips: 5+.")
    assert answer_text(Command.STATS, SECRET) == "Anna, this is our first game."


@pytest.mark.parametrize("command", Command)
@pytest.mark.parametrize("may", [True, False])
def test_answers_are_short_and_no_questions(command: Command, may: bool) -> None:
    many = Encounters(**dict.fromkeys((field.name for field in fields(Encounters)), 10**6))
    for kind in STRATEGIES:
        facts = replace(
            FACTS,
            bot="D" * 20,
            opponent="A" * 20,
            strategy=kind,
            is_over=may,
            may_show=False,
            latest=DECISION,
            earlier=many,
        )
        told = answer_text(command, facts)
        assert len(told) <= MAX_CHAT_LENGTH
        assert parse_command(line(told, "another bot"), "Desdemona") is None


def test_a_draw_is_told_only_when_it_is_no_secret() -> None:
    drawing_facts = replace(FACTS, strategy="randomised")
    for trap, told in (
        (True, "A random number decided between this move and d3."),
        (False, "A random number decided between this move and f7."),
    ):
        latest = drawn_decision(trap=trap)
        assert answer_text(Command.EVAL, replace(drawing_facts, latest=latest)).endswith(told)
        for secret in (replace(drawing_facts, is_blind=True), replace(drawing_facts, is_over=False)):
            for command in Command:
                shown = answer_text(command, replace(secret, latest=latest))
                assert "lot" not in shown.split()
                assert shown == answer_text(command, replace(secret, strategy="trappy", latest=latest))
    assert answer_text(Command.ENGINE, drawing_facts).endswith(
        "player randomised: on some moves, chance decided whether I set a trap."
    )
