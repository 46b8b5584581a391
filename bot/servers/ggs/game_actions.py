"""Our actions in a game on GGS, including chat. No I/O."""

import logging

from bot.base.errors import RefusedError
from bot.base.events import ChatLine, MoveInfo, Room
from bot.servers.ggs.game import GgsGame, discs
from bot.servers.ggs.lifecycle import GgsStatus
from bot.servers.ggs.state import GgsState
from bot.servers.ggs.wire import Said, clean_chat, write_move

logger = logging.getLogger(__name__)


class GgsGameActions:
    """Sends moves, resignations, abort offers and chat.

    Args:
        state: State of the account.
    """

    def __init__(self, state: GgsState) -> None:
        self._name, self._games, self._out = state.name, state.games, state.out
        self._said_last = ("", "", "")
        """Our last chat line in a game: board id, match id and text."""

    def play(self, game_id: str, move: str, info: MoveInfo | None) -> None:
        """Send a move.

        Raises:
            RefusedError: The game is not live, or it is not our turn.
        """
        game = self._running(game_id)
        if not game.is_ours or game.is_done or game.result is not None:
            raise RefusedError(f"game {game_id}: not our turn", 400)
        game.refusal, game.sent = "", move
        score = None if info is None or info.score_centi is None else discs(info.score_centi)
        self._out.ask("play", game.board, write_move(move, score, None if info is None else info.time_s))

    def resign(self, game_id: str) -> None:
        """Resign a game.

        Raises:
            RefusedError: The game is not live, or resigning would also resign the other game of its match.
        """
        game = self._running(game_id)
        if game.board != game.match:
            raise RefusedError(f"game {game_id}: it would resign both games of the synchro match", 400)
        self._out.ask("resign", game.board)

    def abort(self, game_id: str) -> None:
        """Offer to abort a game that this program cannot play.

        Raises:
            RefusedError: This program plays the game; the opponent could accept the offer many moves later.
        """
        game = self._running(game_id)
        if game.is_played:
            raise RefusedError(f"game {game_id}: it can only be aborted by agreement", 400)
        self._out.ask("abort", game.match)

    def resync(self, game_id: str) -> None:
        """Request the current state of a game."""
        game = self._games.by_id.get(game_id)
        if game is not None and game.status is GgsStatus.LIVE:
            self._games.reread(game)

    def _running(self, game_id: str) -> GgsGame:
        game = self._games.by_id.get(game_id)
        if game is None or game.status is not GgsStatus.LIVE:
            raise RefusedError(f"game {game_id}: it is not running", 400)
        return game

    # --- Chat -------------------------------------------------------------------------------------------

    def say(self, game_id: str, text: str, room: Room) -> None:
        """Send a chat message in a game or, after the game, to the opponent.

        Raises:
            RefusedError: The game does not exist.
        """
        game = self._games.by_id.get(game_id)
        if game is None:
            raise RefusedError(f"game {game_id}: there is no such game", 404)
        text = clean_chat(text)
        if game.status is not GgsStatus.LIVE:
            if room is Room.PLAYER:
                self._out.say(f"tell {game.about.opponent.name} {text}")
            return
        # Both games of a match share one conversation: send a greeting once.
        before, self._said_last = self._said_last, (game.board, game.match, text)
        if before[1:] != self._said_last[1:] or before[0] == game.board:
            self._out.ask("tell", "p" if room is Room.PLAYER else "o", game.match, text)

    def heard(self, message: Said) -> None:
        """Handle a chat message that is sent to us, to a channel, or in a game."""
        if message.name == self._name:
            return
        room = Room.SPECTATOR if message.to == "O" else Room.PLAYER
        if message.id:
            games = list(self._games.of(message.id))
        else:
            live = self._games.live.values()
            games = [
                game for game in live if game.about.opponent.name == message.name and not message.channel
            ]
        if not games:
            where = f" on {message.channel}" * bool(message.channel)
            logger.info("%s says%s: %.300s", message.name, where, message.text)
        for game in games[:1]:
            self._out.tell_game(game.about.game_id, ChatLine(message.name, room, message.text))
