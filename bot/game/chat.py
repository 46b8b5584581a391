"""One game's chat: greeting, answers to questions, farewell."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bot.base.errors import TransientError
from bot.base.events import ChatLine, Room
from bot.game import chat_commands as commands
from bot.game import chat_text as talk
from bot.game.assignment import imitated_rating
from bot.game.chat_commands import Command
from bot.game.ledger import ClosedGame, GameLedger
from bot.game.services import GameServices
from bot.game.side_tasks import SideTasks
from engine.games import get_rules
from engine.strategies.registry import strategy_named

EXTRA_CHAT_WAIT_S = 2.0
"""Extra seconds to wait before chatting after a pause demanded by the server; other requests go first."""


class GameChat:
    """Chats in one game's rooms; callers wait only for the farewell.

    Args:
        game_id: The site's id.
        services: Shared by all games.
        ledger: The game's ledger, open before the first message.
        side_tasks: Sends the messages in the background.
        moves: Returns the moves played.
        is_over: Returns whether the server has ended the game.
    """

    def __init__(
        self,
        game_id: str,
        services: GameServices,
        ledger: GameLedger,
        side_tasks: SideTasks,
        *,
        moves: Callable[[], tuple[str, ...]],
        is_over: Callable[[], bool],
    ) -> None:
        self._game_id = game_id
        self._services = services
        self._server = services.server
        self._config = services.config.chat
        self._ledger = ledger
        self._side_tasks = side_tasks
        self._moves = moves
        self._is_over = is_over
        self._answers: dict[Room, asyncio.Task[None]] = {}
        """The task of the latest answer in each room; `_answered_at` has the question's time."""
        self._answered_at: dict[Room, float] = {}
        self._asked: set[tuple[Room, Command]] = set()
        """Questions that were answered, each with its room."""

    def greet(self) -> None:
        """Send the greetings at the start of a game."""
        self._greet(self._config.greeting, Room.PLAYER)
        self._greet(self._config.spectators, Room.SPECTATOR)

    def _greet(self, template: str, room: Room) -> None:
        game = self._ledger.game
        words = {"opponent": game.opponent_name, "bot": self._services.bot_name}
        text = talk.greeting(self._config, template, **words, game=get_rules(game.game).title)
        if text is not None:
            self._side_tasks.start("the greeting", partial(self._say, text, room))

    def on_message(self, line: ChatLine) -> None:
        """Answer a question if it is the first of its kind, or if the room has had no answer recently."""
        command = commands.parse_command(line, self._services.bot_name)
        if command is None or not (self._config.enabled and self._config.commands):
            return
        now, room = self._services.clock(), line.room
        if (room, command) in self._asked:
            last, under_way = self._answered_at[room], self._answers[room]
            if now - last < commands.MIN_ANSWER_INTERVAL_S or not under_way.done():
                return
        self._asked.add((room, command))
        self._answered_at[room] = now
        self._answers[room] = self._side_tasks.start(
            f"answering {command}", partial(self._answer, command, line)
        )

    async def _answer(self, command: Command, line: ChatLine) -> None:
        game, moves = self._ledger.game, self._moves()
        facts = commands.ChatFacts(
            bot=self._services.bot_name,
            opponent=game.opponent_name,
            strategy=game.strategy,
            like_rating=imitated_rating(game),
            is_over=self._is_over(),
            is_blind=self._services.is_blind(game),
            may_show=commands.may_show(line, game.opponent_name, self._config),
        )
        match command:
            case Command.EVAL | Command.TRAP if (facts.may_show or facts.is_over) and not facts.is_blind:
                stored = await self._ledger.latest_decision(moves)
                if stored is not None:
                    forecast = await self._ledger.forecast_of(stored)
                    facts = replace(facts, latest=stored.decision, forecast=forecast)
            case Command.STATS:
                facts = replace(facts, earlier=await self._ledger.earlier_games())
            case _:
                pass
        text = talk.truncate_chat(commands.answer_text(command, facts))
        await self._say(text, line.room)

    async def _say(self, text: str, room: Room) -> None:
        """Send a message; if the server demands a pause, retry after it.

        Other failures are not retried, because the room may have seen the message.
        """
        while True:
            try:
                await self._server.chat(self._game_id, text, room)
            except TransientError as error:
                if error.retry_after_s is None:
                    raise
                # Whatever is more urgent goes first.
                await self._services.sleep(error.retry_after_s + EXTRA_CHAT_WAIT_S)
            else:
                return

    async def say_farewell(self, closed: ClosedGame) -> None:
        """Send the farewell after a game whose ledger is closed."""
        game = self._ledger.game
        text = talk.farewell(
            self._config,
            names_traps=strategy_named(game.strategy).sets_traps or self._services.is_blind(game),
            opponent=game.opponent_name,
            bot=self._services.bot_name,
            game=get_rules(game.game).title,
            result=closed.verdict,
            counts=closed.counts,
        )
        if text is not None:
            await self._side_tasks.attempt("the farewell", partial(self._server.chat, self._game_id, text))
