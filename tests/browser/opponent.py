"""A scripted program at the arena's bot side: it plays random legal moves, the same ones in every run."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from bot.arena.variants import VARIANTS, ArenaVariant
from engine.bait_rule import forecast
from engine.completion import complete
from engine.decision import Decision
from engine.figure_9 import classify_by_figure_9, expected_scale_centi
from engine.forecasts import decision_costs, judged_forecast
from engine.game import Game, replay
from engine.judge import ReplyCosts
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.database import Database
from storage.ledger.decisions import mark_confirmed
from storage.ledger.games import finish_game, open_game
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult, NewGame
from tests.storage.samples import commit_decision, store_forecast

Json = dict[str, Any]
NAME = "Desdemona"
_DEPTH = 4  # of the trap-setting opponent: enough to find traps, too little to wait for


class Opponent:
    """Accepts what it is offered and plays until the game is over."""

    def __init__(self, url: str, token: str, database: Database) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._database = database
        self.may_move = asyncio.Event()
        """Cleared: it thinks, and thinks, and thinks."""
        self.may_move.set()
        self.decline_reason: str | None = None
        """Set: it declines with this reason."""
        self.never_answers = False
        """Set: challenges expire."""
        self.sets_traps = False
        """It plays trappy minimax, and writes its decisions down as the real bot does."""
        self.script: dict[str, str] = {}
        """Its answer to a list of moves, where it is not to play as usual."""

    async def run(self) -> None:
        """Answer challenges and play games until cancelled."""
        timeout = aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(self._url, headers=self._headers, timeout=timeout) as self._http,
            asyncio.TaskGroup() as games,
        ):
            known: set[str] = set()
            async for event in self._lines("/api/stream/event"):
                if event["type"] == "challenge" and event["challenge"]["status"] == "created":
                    await self._answer(event["challenge"]["id"])
                if event["type"] == "gameStart" and event["game"]["gameId"] not in known:
                    known.add(event["game"]["gameId"])
                    games.create_task(self._play(event["game"]["gameId"]))

    async def _answer(self, challenge_id: str) -> None:
        if self.never_answers:
            return
        if self.decline_reason is None:
            await self._post(f"/api/challenge/{challenge_id}/accept")
        else:
            reason = {"reason": self.decline_reason}
            await self._post(f"/api/challenge/{challenge_id}/decline", data=reason)

    async def _play(self, game_id: str) -> None:
        decisions: dict[int, Decision] = {}
        full: Json = {}
        record: int | None = None
        async for event in self._lines(f"/api/bot/game/stream/{game_id}"):
            if event["type"] == "gameFull":
                full = event
                await self._post(
                    f"/api/bot/game/{game_id}/chat", data={"room": "player", "text": "Have fun <b>!</b>"}
                )
            state = event["state"] if event["type"] == "gameFull" else event
            if "moves" not in state:
                continue
            moves = state["moves"].split()
            variant = VARIANTS[full["variant"]["key"]]
            game = variant.rules
            side = variant.side("white" if full["white"]["name"] == NAME else "black")
            if state["status"] != "started":
                if record is not None:
                    await self._write_down(record, moves, decisions)
                return
            start = full["initialFen"]
            position = replay(game, moves, variant.start(None if start == "startpos" else start))
            if game.legal_moves(position) and game.side_to_move(position) == side:
                await self.may_move.wait()
                move = self._choose(game, position, moves, decisions)
                if decision := decisions.get(len(moves)):
                    record = record or await self._open(full, variant, side, decision)
                await self._post(f"/api/bot/game/{game_id}/move/{move}")

    def _choose(
        self, game: Game[Any], position: Any, moves: list[str], decisions: dict[int, Decision]
    ) -> str:
        if answer := self.script.get(" ".join(moves)):
            return answer
        if not self.sets_traps:
            return chosen_at_random(moves, [game.move_text(move) for move in game.legal_moves(position)])
        searcher = make_searcher(game.name, 4)
        player = MoveChooser(strategy_named("trappy"), game, TrapParams(), searcher)
        decision = player.choose(position, Limits(_DEPTH), StopFlag())
        decisions[len(moves)] = complete(decision, searcher, StopFlag())
        return decision.move

    async def _open(self, full: Json, variant: ArenaVariant, side: int, first: Decision) -> int:
        """Open the game's record, as the real bot does before its first move."""
        person = full[variant.colours[1 - side]]
        new = NewGame(
            site="arena",
            site_game_id=full["id"],
            game=variant.game_name,
            variant=variant.key,
            initial_position=None,
            our_side=side,
            rated=full["rated"],
            speed=full["speed"],
            clock_initial_s=300,
            clock_increment_s=3,
            opponent_id=person["id"],
            opponent_name=person["name"],
            opponent_is_bot=False,
            our_rating=None,
            opponent_rating=None,
            strategy="trappy",
            params=first.params,
            engine_version=first.engine_version,
            selection={},
        )
        async with self._database.write() as session:
            return (await open_game(session, new)).id

    async def _write_down(self, record: int, moves: list[str], decisions: dict[int, Decision]) -> None:
        judged: dict[int, tuple[str, ReplyCosts]] = {}
        async with self._database.write() as session:
            for ply, decision in decisions.items():
                key = await commit_decision(session, record, ply, decision)
                await mark_confirmed(session, key)
                reply = moves[ply + 1] if len(moves) > ply + 1 else None
                await record_outcome(session, key, classify_by_figure_9(decision, reply))
                if decision.chosen.replies:
                    found = forecast(decision.chosen, expected_scale_centi(decision))
                    made = judged_forecast(decision, found, StopFlag())
                    await store_forecast(session, key, decision, made)
                    if reply is not None:
                        judged[key] = reply, decision_costs(decision, [reply], StopFlag(), made.costs)
            await store_judgements(session, record, judged)
            await finish_game(
                session, record, result=GameResult.WIN, end_reason="variantEnd", aborted=False, moves=moves
            )

    async def _lines(self, path: str) -> AsyncIterator[Json]:
        async with self._http.get(path) as response:
            response.raise_for_status()
            async for line in response.content:
                if line.strip():
                    yield json.loads(line)

    async def _post(self, path: str, **options: Any) -> None:
        async with self._http.post(path, **options):
            pass  # refused when the person was quicker, for instance resigned: the stream tells


def chosen_at_random(moves: list[str], legal: list[str], seed: str = "") -> str:
    """A move that depends on the game so far only, so that a game goes the same way in every run."""
    return random.Random(" ".join([seed, *moves])).choice(sorted(legal))
