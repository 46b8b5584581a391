"""An `engine.protocols.link.Link` that obtains the scores of many moves from a UCI or UCCI engine."""

import time
from dataclasses import dataclass, field

from engine.games import ENGINE_GAMES, get_rules
from engine.games.standard_chess import StandardChess
from engine.protocols.link import (
    ANSWER_S,
    BestMoveRequest,
    EngineOutput,
    InfoLine,
    SearchRequest,
)
from engine.protocols.process import EngineError, EngineProcess, WaitLimit
from engine.protocols.score_settings import EngineSettings
from engine.protocols.scores import split_position_text
from engine.protocols.uci import UciProgram
from engine.stop import StopFlag, Stopped

_STOP_TIMEOUT_S = 5.0  # for an engine to end a search
_CLEARING = ("newgame", "clearhash")  # UCCI has no ucinewgame; its options differ from engine to engine


class UciLink:
    """A link to a UCI or UCCI engine; see `engine.protocols.link.Link`.

    Raises:
        EngineError: The engine does not start, does not identify itself in time, or lacks a required feature.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._process = EngineProcess(settings.command)
        self._engine = UciProgram(self._process, settings.protocol, settings.game, _STOP_TIMEOUT_S)
        # Only chess engines get the option for analysis: the scores of some depend on it.
        self._tells_mode = settings.game == "chess"
        try:
            self._greet(settings)
        except (EngineError, Stopped):
            self.close(quickly=True)
            raise

    @property
    def name(self) -> str:
        """See `Link.name`."""
        return self._process.name

    def processor_time_s(self) -> float | None:
        """See `Link.processor_time_s`."""
        return self._process.processor_time_s()

    @property
    def max_lines(self) -> int:
        """See `Link.max_lines`."""
        return self._engine.option("MultiPV").high or 1

    def search(self, ask: SearchRequest | BestMoveRequest, wait: WaitLimit) -> EngineOutput:
        """See `Link.search`."""
        engine, is_for_move = self._engine, isinstance(ask, BestMoveRequest)
        engine.wait_for_search_end(wait)
        engine.set_option("MultiPV", "1" if isinstance(ask, BestMoveRequest) else str(ask.lines), wait)
        if self._tells_mode and "uci_analysemode" in engine.options:
            engine.set_option("UCI_AnalyseMode", "false" if is_for_move else "true", wait)
        fen, moves = split_position_text(ask.position)
        engine.set_chess960(fen, wait)
        self._clear(wait)
        engine.wait_until_ready(wait)
        engine.set_position(ask.position, (), wait)
        if isinstance(ask, BestMoveRequest):
            is_second = (fen[1] == "b") != (len(moves) % 2 == 1)
            engine.go(_limits_for_move(ask, is_second=is_second), wait)
        else:
            engine.go(f"depth {ask.depth}" + engine.move_list(" searchmoves", ask.moves), wait)
        heard = _SearchOutput()
        try:
            self._listen(heard, wait)
        except Stopped:
            # `wait_for_search_end` drops the rest of its output before the next search.
            engine.stop(WaitLimit(StopFlag(), response_timeout_s=_STOP_TIMEOUT_S))
            if isinstance(ask, SearchRequest):
                raise
            self._receive_best_move(heard)
        return EngineOutput(tuple(heard.lines), heard.nodes, heard.best)

    def _listen(self, heard: "_SearchOutput", wait: WaitLimit) -> None:
        """Collect a search's output until the search ends."""
        heard.best = self._engine.best_of(self._engine.listen(heard.take, wait))

    def _receive_best_move(self, heard: "_SearchOutput") -> None:
        """Collect the rest of a stopped search's output.

        Raises:
            EngineError: The search does not end.
        """
        try:
            self._listen(heard, WaitLimit(StopFlag(), time.monotonic() + ANSWER_S, ANSWER_S, late=None))
        except Stopped as error:
            raise EngineError(f"{self.name} names no move on 'stop'") from error

    def close(self, *, quickly: bool = False) -> None:
        """See `Link.close`."""
        self._process.close(None if quickly else "stop\nquit")

    def _greet(self, settings: EngineSettings) -> None:
        engine = self._engine
        wait = WaitLimit(StopFlag(), time.monotonic() + settings.start_s, settings.start_s, late=None)
        try:
            engine.greet(wait)
            if "multipv" not in engine.options:
                raise EngineError(f"{self.name} has no option MultiPV, which trap profiles need")
            self._set_variant(settings.game, wait)
            for name, value in settings.options:
                engine.set_option(name, value, wait)
            engine.wait_until_ready(wait)
            engine.detect_first_rank(wait)
        except Stopped:
            raise EngineError(
                f"{self.name} does not answer {settings.protocol!r} with '{settings.protocol}ok' "
                f"within {settings.start_s:g} s"
            ) from None

    def _set_variant(self, game_name: str, wait: WaitLimit) -> None:
        """Select the game, if the engine plays more than one."""
        game = get_rules(game_name)
        variant = str(game.board_type.uci_variant) if isinstance(game, StandardChess) else game_name
        option = self._engine.options.get("uci_variant")
        if option is None:
            if game_name in ENGINE_GAMES:
                raise EngineError(f"{self.name} does not play {variant}: it has no option UCI_Variant")
            return
        if option.refuse(variant):
            raise EngineError(f"{self.name} does not play {variant}: UCI_Variant does not offer it")
        # Without it Fairy-Stockfish evaluates as for another game, even in UCCI mode.
        self._engine.set_option("UCI_Variant", variant, wait)

    def _clear(self, wait: WaitLimit) -> None:
        """Clear the results of earlier searches."""
        engine = self._engine
        clearing = [option for key, option in engine.options.items() if key.replace("_", "") in _CLEARING]
        if not engine.is_ucci or not clearing:
            engine.new_game(wait)
            return
        for option in clearing:
            self._process.send(f"setoption {option.name}", wait)


@dataclass(slots=True)
class _SearchOutput:
    """An engine's output during a search."""

    lines: list[InfoLine] = field(default_factory=list)
    nodes: int = 0
    best: str | None = None

    def take(self, _said: str, line: InfoLine | None, nodes: int | None) -> None:
        self.nodes = self.nodes if nodes is None else nodes
        if line is not None:
            self.lines.append(line)


def _limits_for_move(ask: BestMoveRequest, *, is_second: bool) -> str:
    words = []
    if ask.depth is not None:
        words.append(f"depth {ask.depth}")
    if ask.nodes is not None:
        words.append(f"nodes {ask.nodes}")
    if ask.clock is not None:
        ours, theirs, increment = (
            max(0, round(1000 * seconds))
            for seconds in (ask.clock.remaining_s, ask.clock.their_remaining_s, ask.clock.increment_s)
        )
        first, second = (theirs, ours) if is_second else (ours, theirs)
        words.append(f"wtime {first} btime {second} winc {increment} binc {increment}")
    return " ".join(words) if words else "infinite"
