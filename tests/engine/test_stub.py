"""The checked-in stub of the C++ core against the module that was built."""

import ast
import inspect
from pathlib import Path
from types import ModuleType

from engine import _native

STUB = Path(__file__).parents[2] / "engine" / "_native.pyi"


def public(owner: type | ModuleType) -> set[str]:
    names = {name for name in vars(owner) if not name.startswith("_")}
    return names | (
        {"__init__"} if inspect.isclass(owner) and owner.__init__ is not object.__init__ else set()
    )


def test_stub_names_what_there_is() -> None:
    tree = ast.parse(STUB.read_text())
    told: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            told.add(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            told.add(node.name)
    assert told == public(_native)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name != "Stopped":
            methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            assert methods == public(getattr(_native, node.name)), node.name


def test_stub_gives_the_arguments_that_are_taken() -> None:
    """nanobind writes each signature into the docstring; the argument names there are the stub's."""
    tree = ast.parse(STUB.read_text())
    functions = [(_native, node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            owner = getattr(_native, node.name)
            functions += [
                (owner, n) for n in node.body if isinstance(n, ast.FunctionDef) and not n.decorator_list
            ]
    for owner, node in functions:
        arguments = [a.arg for a in node.args.args if a.arg != "self"]
        signature = (getattr(owner, node.name).__doc__ or "").partition("->")[0]
        positions = [signature.find(f"{name}:") for name in arguments]
        assert -1 not in positions, (node.name, signature)
        assert positions == sorted(positions), (node.name, signature)
