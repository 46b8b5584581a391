"""What goes into a network of each game and what comes out, and how large it is."""

from dataclasses import dataclass

KIND = "people"
"""The kind of these networks in their metadata."""
BOARD, WHO = "board", "who"
"""Names of a network's inputs."""
PLANES, MOVES, VALUE = "planes", "moves", "value"
"""Names of a network's outputs: the policy of Othello, of the other games; the result."""

EMBEDDING = 64
"""Size of the embedding of what is known about the person."""
POLICY = 48
"""Channels of the policy head's hidden layer."""
KEY = 32
"""Size of the vectors whose dot product is the logit of a move from one square to another."""
VALUE_PLANES, VALUE_HIDDEN = 8, 64
"""Planes and hidden units of the value head."""


@dataclass(frozen=True)
class GameShape:
    """What a network of a game has for input and output."""

    name: str
    rows: int
    columns: int
    kinds: int
    """Number of kinds of pieces."""
    features: tuple[str, ...]
    """What may be known about the person; each has a flag in the network's input (`who_columns`)."""
    moves_have_origin: bool
    """Whether moves are pairs of squares, numbered ``from * squares + to``; if not, they are squares."""
    has_legal_plane: bool = False
    """Whether the input has a plane of the legal target squares."""
    has_rights: bool = False
    """Whether the input has planes of castling rights and of a legal en passant capture."""

    @property
    def squares(self) -> int:
        return self.rows * self.columns

    @property
    def moves(self) -> int:
        """Number of outputs of the policy."""
        return self.squares**2 if self.moves_have_origin else self.squares

    @property
    def planes(self) -> int:
        """Number of input planes.

        In order: own pieces by kind, the other side's, legal target squares, the last move's origin (if moves
        have one) and target, en passant, and four castling rights (own short and long, the other side's).
        """
        return 2 * self.kinds + self.has_legal_plane + 1 + self.moves_have_origin + 5 * self.has_rights

    @property
    def who_columns(self) -> tuple[str, ...]:
        """Columns of the network's input `who`: the features, then a flag for each."""
        return (*self.features, *(f"has_{name}" for name in self.features))


_PERSON = ("rating", "opponent", "games")
OTHELLO = GameShape("othello", 8, 8, 1, _PERSON, moves_have_origin=False, has_legal_plane=True)
XIANGQI = GameShape("xiangqi", 10, 9, 7, _PERSON, moves_have_origin=True)
CHESS = GameShape("chess", 8, 8, 6, ("rating", "opponent", "clock"), moves_have_origin=True, has_rights=True)
SHAPES = {shape.name: shape for shape in (OTHELLO, XIANGQI, CHESS)}


@dataclass(frozen=True)
class NetworkSize:
    """Size of a network."""

    game: str
    channels: int
    blocks: int
    person_planes: int = 0
    """Number of planes that a person's vector weighs, added to the logits of squares; 0: none."""

    @property
    def shape(self) -> GameShape:
        return SHAPES[self.game]
