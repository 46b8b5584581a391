"""Makes small changes to Python and C++ sources; each change should make a test fail.

A hash of each change decides whether the change is tried. So every run selects the same mutants, and an edit
to a module changes the selection only near the edit.
"""

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise, zip_longest

from lab.mutants.guarded_modules import GuardedModule


@dataclass(frozen=True, slots=True)
class Change:
    """A range of bytes in a source, and the bytes that replace it."""

    kind: str
    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one change."""

    path: str
    change: str
    """The change for display: the old line and the new line."""
    source: bytes

    @property
    def name(self) -> str:
        return f"{self.path}: {self.change}"


class BadTable(Exception):
    """A fixed mutant no longer matches the source."""


def select_mutants(guarded: GuardedModule, source: bytes, sample: int | None = None) -> list[Mutant]:
    """The fixed mutants of a module, followed by a sample that mixes all kinds of changes evenly.

    Args:
        guarded: The module to mutate.
        source: The module's source text.
        sample: Number of mutants to sample, overriding the table's number; a negative number selects all.

    Raises:
        BadTable: The source text of a fixed mutant does not occur exactly once.
    """
    fixed = [_fixed(guarded.path, source, before, after) for before, after in guarded.fixed]
    kinds: dict[str, list[Mutant]] = defaultdict(list)
    known = {mutant.source for mutant in fixed}
    names = {mutant.name for mutant in fixed}
    for change in _native_changes(source) if guarded.is_native else _python_changes(source):
        mutant = _mutant(guarded.path, source, change)
        if mutant.source in known:
            continue
        known.add(mutant.source)
        for number in range(2, 100):
            if mutant.name not in names:
                break
            mutant = Mutant(mutant.path, f"{_shown(source, change)} ({number})", mutant.source)
        names.add(mutant.name)
        kinds[change.kind].append(mutant)
    drawn = (sorted(each, key=_hash_order) for _, each in sorted(kinds.items()))
    mixed = (mutant for row in zip_longest(*drawn) for mutant in row if mutant is not None)
    valid = (mutant for mutant in mixed if guarded.is_native or _compiles(mutant.source))
    count = guarded.sample if sample is None else sample
    return fixed + list(valid if count < 0 else islice(valid, count))


def _hash_order(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.name.encode()).hexdigest()


def _fixed(path: str, source: bytes, before: str, after: str) -> Mutant:
    if source.count(before.encode()) != 1:
        raise BadTable(f"{path} contains {before!r} {source.count(before.encode())} times instead of once")
    start = source.index(before.encode())
    return _mutant(path, source, Change("fixed", start, start + len(before.encode()), after.encode()))


def _mutant(path: str, source: bytes, change: Change) -> Mutant:
    return Mutant(path, _shown(source, change), source[: change.start] + change.text + source[change.end :])


def _shown(source: bytes, change: Change) -> str:
    """The changed lines, before and after."""
    start = source.rfind(b"\n", 0, change.start) + 1
    end = source.find(b"\n", change.end)
    end = len(source) if end < 0 else end
    after = source[start : change.start] + change.text + source[change.end : end]
    before, after_text = (" ".join(text.decode().split()) for text in (source[start:end], after))
    return f"`{before}` -> `{after_text}`"


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


# --- Python ---------------------------------------------------------------------------------------------

_COMPARISON_MUTATIONS: dict[type[ast.cmpop], tuple[str, tuple[tuple[str, str], ...]]] = {
    ast.Lt: ("<", (("boundary", "<="), ("comparison", ">"))),
    ast.LtE: ("<=", (("boundary", "<"), ("comparison", ">="))),
    ast.Gt: (">", (("boundary", ">="), ("comparison", "<"))),
    ast.GtE: (">=", (("boundary", ">"), ("comparison", "<="))),
    ast.Eq: ("==", (("comparison", "!="),)),
    ast.NotEq: ("!=", (("comparison", "=="),)),
    ast.Is: ("is", (("comparison", "is not"),)),
    ast.IsNot: (r"is\s+not", (("comparison", "is"),)),
    ast.In: ("in", (("comparison", "not in"),)),
    ast.NotIn: (r"not\s+in", (("comparison", "in"),)),
}
_ARITHMETIC_MUTATIONS = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: (r"\*\*", "*"),
}
_CALL_SWAPS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_REMOVABLE_CALLS = {"min", "max", "abs", "round", "sorted", "ceil", "floor", "float", "int"}


def _python_changes(source: bytes) -> Iterator[Change]:
    return _PythonChanges(source).all()


class _PythonChanges:
    def __init__(self, source: bytes) -> None:
        self._source = source
        lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    def all(self) -> Iterator[Change]:
        return self._walk(ast.parse(self._source))

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def _instead(self, kind: str, node: ast.expr | ast.stmt, text: str) -> Change:
        return Change(kind, self._start(node), self._end(node), text.encode())

    def _text(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)].decode()

    def _operator(
        self, kind: str, left: ast.expr, right: ast.expr, pattern: str, text: str
    ) -> Iterator[Change]:
        """Replace the operator between two operands; comments between them must not contain the operator."""
        match = re.search(pattern.encode(), self._source[self._end(left) : self._start(right)])
        if match:
            at = self._end(left)
            yield Change(kind, at + match.start(), at + match.end(), text.encode())

    def _walk(self, node: ast.AST) -> Iterator[Change]:
        yield from self._changes_of(node)
        for child in _children(node):
            yield from self._walk(child)

    def _changes_of(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.Compare(left, ops, comparators):
                for op, a, b in zip(ops, [left, *comparators], comparators, strict=False):
                    pattern, others = _COMPARISON_MUTATIONS[type(op)]
                    for kind, text in others:
                        yield from self._operator(kind, a, b, pattern, text)
            case ast.BoolOp(op, values):
                word, other, neutral = (
                    ("and", "or", "True") if isinstance(op, ast.And) else ("or", "and", "False")
                )
                for a, b in pairwise(values):
                    yield from self._operator("boolean", a, b, word, other)
                for value in values:
                    yield self._instead("condition", value, neutral)
            case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC_MUTATIONS:
                pattern, text = _ARITHMETIC_MUTATIONS[type(op)]
                yield from self._operator("arithmetic", left, right, pattern, text)
            case ast.UnaryOp(ast.Not() | ast.USub(), operand):
                yield self._instead("boolean", node, f"({self._text(operand)})")
            case ast.IfExp(_, body, orelse):
                yield self._instead("condition", node, f"({self._text(body)})")
                yield self._instead("condition", node, f"({self._text(orelse)})")
            case (
                ast.If(test)
                | ast.While(test)
                | ast.comprehension(ifs=[test, *_])
                | ast.match_case(guard=ast.expr() as test)
            ):
                yield self._instead("condition", test, f"not ({self._text(test)})")
            case ast.Call(func, args) if args:
                player_label = func.attr if isinstance(func, ast.Attribute) else self._text(func)
                if player_label in _CALL_SWAPS:
                    yield self._instead("call", func, _CALL_SWAPS[player_label])
                if player_label in _REMOVABLE_CALLS:
                    for arg in args:
                        yield self._instead("call", node, f"({self._text(arg)})")
            case ast.Constant():
                yield from self._constants(node)
            case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self._instead("returned", value, "None")
            case ast.Expr(ast.Call() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise() | ast.Continue():
                yield self._instead("statement", node, "pass")

    def _constants(self, node: ast.Constant) -> Iterator[Change]:
        match node.value:
            case bool(value):
                yield self._instead("constant", node, repr(not value))
            case int(value) | float(value):
                yield self._instead("constant", node, repr(value + 1))
            case str(value):
                yield self._instead("text", node, repr(value + "!"))


def _children(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes below a node, except types, docstrings and messages, which do not affect behaviour."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return ()
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body)
        case ast.ClassDef():
            return node.body
        case ast.AnnAssign():
            return (node.value,) if node.value else ()
        case ast.Expr(ast.Constant()):
            return ()
        case ast.Call(ast.Name("TypeVar" | "cast" | "isinstance")):
            return ()
        case ast.keyword(arg="strict"):
            return ()
    return ast.iter_child_nodes(node)


# --- C++ ------------------------------------------------------------------------------------------------

# The house style has spaces around operators between values, and none in types.
_NATIVE_MUTATIONS = {
    "boundary": ((r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > ")),
    "comparison": (
        (r" < ", " > "),
        (r" <= ", " >= "),
        (r" > ", " < "),
        (r" >= ", " <= "),
        (r" == ", " != "),
        (r" != ", " == "),
    ),
    "boolean": ((r" && ", " || "), (r" \|\| ", " && "), (r"(?<=[(& |])!(?=\w)", ""), (r"(?<=return )!", "")),
    "arithmetic": ((r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * ")),
    "sign": ((r"(?<=[ (])-(?=[\w])", ""),),
    "condition": ((r"(?<=if \()(?=.*\) )", "false && "), (r"(?<=if \()(?=.*\) )", "true || ")),
}
# Rounds memory up, or cannot run: no test could detect a change.
_UNMUTATED_LINE = re.compile(
    r"^\s*(//|#|template|class|struct|public|private|using)|aligned_alloc|/ 64|abort\(\)"
)


def _native_changes(source: bytes) -> Iterator[Change]:
    at = 0
    for line in source.decode("ascii").splitlines(keepends=True):
        code = "" if _UNMUTATED_LINE.search(line) else line.partition("//")[0]
        yield from chain.from_iterable(_line_changes(code, at))
        at += len(line)


def _line_changes(code: str, at: int) -> Iterator[Iterator[Change]]:
    for kind, rules in _NATIVE_MUTATIONS.items():
        for pattern, text in rules:
            yield (
                Change(kind, at + found.start(), at + found.end(), text.encode())
                for found in re.finditer(pattern, code)
            )
    yield (
        Change("constant", at + found.start(), at + found.end(), _more(found[0]).encode())
        for found in re.finditer(r"(?<![\w.'])\d+(\.\d+)?(?![\w.'])", code)
    )


def _more(number: str) -> str:
    return repr(float(number) + 1 if "." in number else int(number) + 1)
