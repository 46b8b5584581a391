"""The sentences of the arena's page, and what its catalogues have of them.

``make sentences`` lists for each language the sentences that are missing, and those that the page no longer
says, of which a test demands that there are none; and texts of the scripts that go through no catalogue.
"""

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.code_map import ROOT, sources, tree_of

STATIC = ROOT / "bot" / "arena" / "static"
LANGUAGES = STATIC / "languages"
TEMPLATES = ROOT / "bot" / "arena" / "public" / "templates"
DEFINES = STATIC / "common" / "language.js"
_STRING = r'"((?:[^"\\\n]|\\.)*)"'
_SAY = re.compile(rf"(?<![\w.#])say(?:Parts)?\(\s*{_STRING}")
_SAY_COUNT = re.compile(rf"(?<![\w.#])sayCount\(\s*{_STRING},\s*{_STRING}")
_CALLS = re.compile(r"(?<![\w.#])say(?:Parts|Count)?\(")
_IN_HTML = re.compile(r"""\bdata-say>([^<]+)<|aria-label="([^"]+)" data-say-label""")
_PLACE = re.compile(r"\{(\w+)\}")
_COMMENT = re.compile(r"(?m)(?<![:\"'])//.*$|/\*[\s\S]*?\*/")
_UNSAID = re.compile(r"""(["`])([A-Z][a-z]*[ ,.:…!?'][^"`\n]*)\1|\}, (["`])([A-Z][a-z]+)\3""")
_NO_WORDS = ("Bearer ", "Content-")
_FORMS = {"zero", "one", "two", "few", "many", "other"}
_WRITES = (
    "bot/arena/",
    "bot/base/config",
    "bot/charts/",
    "bot/game/chat",
    "engine/games/",
    "bot/text/trap_report",
)
"""Where the server's sentences are written."""


def scripts() -> list[Path]:
    """The page's scripts."""
    return sorted(STATIC.rglob("*.js"))


def calls_without_sentence(text: str) -> int:
    """How many calls name no sentence word for word, so that no catalogue can have it."""
    return len(_CALLS.findall(text)) - len(_SAY.findall(text)) - len(_SAY_COUNT.findall(text))


def unsaid(text: str) -> list[str]:
    """What looks like a sentence for people and is in no call, so that it stays English: a guess."""
    text = _SAY_COUNT.sub("", _SAY.sub("", _COMMENT.sub("", text)))
    found = [sentence or word for _, sentence, _, word in _UNSAID.findall(text)]
    return [each for each in found if not each.startswith(_NO_WORDS)]


@cache
def said() -> dict[str, bool]:
    """All sentences of the page, each with whether it has plural forms."""
    found: dict[str, bool] = {}
    for path in (*scripts(), *TEMPLATES.glob("*.html")):
        plain, counted = _said_in(path.read_text())
        found |= dict.fromkeys(plain, False) | dict.fromkeys(counted, True)
    for path in (*STATIC.glob("*.html"), *TEMPLATES.glob("*.html")):
        found |= {text or label: False for text, label in _IN_HTML.findall(path.read_text())}
    return found | made_by_server() | dict.fromkeys(of_server(), False)


@cache
def made_by_server() -> dict[str, bool]:
    """The keys of `bot.text.sentence.Sentence`, each with whether it has plural forms."""
    found: dict[str, bool] = {}
    for path in sources():
        if path.as_posix().startswith("bot/text/"):
            for node in ast.walk(tree_of(path)):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id == "Sentence"
                ):
                    given = {each.arg: each.value for each in node.keywords}
                    keys = [*node.args[:1], *(given[name] for name in ("you",) if name in given)]
                    texts = [each.value for each in keys if isinstance(each, ast.Constant)]
                    found |= dict.fromkeys((str(each) for each in texts), "one" in given)
    return found


def said_both_ways() -> set[str]:
    """Sentences that are said with plural forms in one place and without them in another."""
    plain, counted = set(of_server()), set[str]()
    plain |= {key for key, has_forms in made_by_server().items() if not has_forms}
    counted |= {key for key, has_forms in made_by_server().items() if has_forms}
    for path in scripts():
        more_plain, more_counted = _said_in(path.read_text())
        plain.update(more_plain)
        counted.update(more_counted)
    return plain & counted


def _said_in(text: str) -> tuple[list[str], list[str]]:
    """A script's sentences without plural forms, and those with them."""
    plain = [_unquoted(each) for each in _SAY.findall(text)]
    return plain, [_unquoted(many) for _, many in _SAY_COUNT.findall(text)]


def of_server() -> list[str]:
    """The server's sentences that some catalogue has, so that all must have them."""
    return list({each: None for path in LANGUAGES.glob("*.json") for each in _catalogue(path)["server"]})


def written_by_server() -> set[str]:
    """All texts of the server's code, with {} for what it inserts."""
    found = set()
    for path in sources():
        if path.suffix == ".py" and path.as_posix().startswith(_WRITES):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found |= {node.value, without_names(node.value)}  # a template's names are its own
                elif isinstance(node, ast.JoinedStr):
                    found.add("".join(_part(each) for each in node.values))
    return found


def _part(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


def without_names(sentence: str) -> str:
    return _PLACE.sub("{}", sentence)


def _unquoted(text: str) -> str:
    return str(json.loads(f'"{text}"'))


def catalogues() -> dict[str, dict[str, Any]]:
    """The catalogues by the tag of their language, with the server's sentences among the page's."""
    found = {path.stem: _catalogue(path) for path in sorted(LANGUAGES.glob("*.json"))}
    return {tag: each | {"sentences": each["server"] | each["sentences"]} for tag, each in found.items()}


def _catalogue(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(), object_pairs_hook=_without_repetition)
    return found


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A sentence that has two meanings in another language needs two keys."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"more than once: {sorted({key for key in keys if keys.count(key) > 1})}")
    return found


def faults(sentences: dict[str, Any]) -> list[str]:
    """What is wrong with a catalogue's sentences, a line each: best none."""
    wanted = said()
    lines = [f"missing: {each}" for each in wanted if each not in sentences]
    lines += [f"no longer said: {each}" for each in sentences if each not in wanted]
    for sentence in wanted.keys() & sentences.keys():
        lines += _faults_of(sentence, sentences[sentence], has_forms=wanted[sentence])
    return lines


def _faults_of(sentence: str, translation: Any, *, has_forms: bool) -> list[str]:
    if isinstance(translation, dict):
        if not has_forms or "other" not in translation or not translation.keys() <= _FORMS:
            return [f"not one text, or wrong plural forms: {sentence}"]
        forms = translation
    else:
        forms = {"other": translation}
    # A form for one or two things may name the number in words.
    free = {"n"} if has_forms else set()
    lines = []
    for form, text in forms.items():
        if not isinstance(text, str) or not text:
            lines.append(f"no text: {sentence}")
        elif _places(text) - (free if form != "other" else set()) != _places(sentence) - (
            free if form != "other" else set()
        ):
            lines.append(f"other places than in English: {sentence}")
    return lines


def _places(text: str) -> set[str]:
    return set(_PLACE.findall(text))


def main() -> None:
    """Print the faults of all catalogues, and what no catalogue can translate yet."""
    for path in scripts():
        if path != DEFINES:
            for each in unsaid(path.read_text()):
                sys.stdout.write(f"{path.relative_to(STATIC)}: in no catalogue: {each}\n")
    for tag, catalogue in catalogues().items():
        found = faults(catalogue["sentences"])
        lines = [f"{tag} ({catalogue['name']}): {len(found)} faults, {len(said())} sentences", *found]
        sys.stdout.write("\n  ".join(lines) + "\n")


if __name__ == "__main__":
    main()
