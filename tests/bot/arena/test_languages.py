"""Every language of the arena's page has exactly the sentences that the page says."""

import re
from pathlib import Path

import pytest

from bot.arena.traffic.assets import INDEX, Assets, assets
from tests.bot.arena import sentences


def test_every_call_names_its_sentence() -> None:
    dynamic = {
        path.name: count
        for path in sentences.scripts()
        if path != sentences.DEFINES and (count := sentences.calls_without_sentence(path.read_text()))
    }
    assert not dynamic


def test_no_sentence_has_plural_forms_in_one_place_and_none_in_another() -> None:
    assert not sentences.said_both_ways()


def test_the_server_writes_what_the_page_translates() -> None:
    texts = sentences.written_by_server()
    assert [each for each in sentences.of_server() if sentences.without_names(each) not in texts] == []


@pytest.mark.parametrize("tag", sorted(sentences.catalogues()))
def test_a_catalogue_has_all_sentences_and_no_others(tag: str) -> None:
    assert sentences.faults(sentences.catalogues()[tag]["sentences"]) == []


def test_faults_are_named() -> None:
    good = sentences.catalogues()["de"]["sentences"]
    left = {key: text for key, text in good.items() if key != "Resign"}
    assert sentences.faults(left) == ["missing: Resign"]
    assert sentences.faults(good | {"Hello": "Hallo"}) == ["no longer said: Hello"]
    assert sentences.faults(good | {"{name} won": "{nam} hat gewonnen"}) == [
        "other places than in English: {name} won"
    ]
    assert sentences.faults(good | {"Resign": {"other": "Aufgeben"}}) == [
        "not one text, or wrong plural forms: Resign"
    ]
    assert sentences.faults(good | {"traps": {"one": "Falle"}}) == [
        "not one text, or wrong plural forms: traps"
    ]
    assert sentences.faults(good | {"Resign": ""}) == ["no text: Resign"]


def test_a_sentence_with_two_meanings_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "xx.json"
    path.write_text('{"sentences": {"Won": "1", "Won": "2"}}')
    with pytest.raises(ValueError, match="more than once"):
        sentences._catalogue(path)


def test_a_form_for_one_thing_may_do_without_the_number() -> None:
    key = "For {n} moves it is not known whether people are tempted."
    good = sentences.catalogues()["de"]["sentences"]
    forms = {"one": "Bei einem Zug unbekannt.", "other": "Bei einigen Zügen unbekannt."}
    assert sentences.faults(good | {key: forms}) == [f"other places than in English: {key}"]


def test_what_goes_through_no_catalogue_is_noticed() -> None:
    script = """
        // A comment is no sentence.
        el("p", { class: "hint" }, "You lost.", say("You won."));
        el("b", {}, "Draw");
        fetch("/static/app.js", { Authorization: `Bearer ${token}` });
        text = `Move ${number}`;
        label = sayCount("One move", "Many moves", n);
    """
    assert sentences.unsaid(script) == ["You lost.", "Draw", "Move ${number}"]


def test_the_page_lists_the_languages() -> None:
    names = {tag: catalogue["name"] for tag, catalogue in sentences.catalogues().items()}
    assert {"de": "Deutsch", "ja": "日本語", "zh-Hans": "简体中文"}.items() <= names.items()
    listed = re.findall(rb'<meta name="languages" content="(.*)">', assets().body(INDEX))
    assert listed == [", ".join(f"{tag} {name}" for tag, name in sorted(names.items())).encode()]


@pytest.mark.parametrize("data", [b"{", b"{}", b"[]"])
def test_a_broken_catalogue_is_named(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"languages/xx\.json is not a translation file"):
        Assets({INDEX: b"", "languages/xx.json": data})
