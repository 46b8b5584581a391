"""Sentences in English, and as the arena's page gets them."""

from bot.text.sentence import (
    BracketText,
    JoinedText,
    ListText,
    MoveText,
    ScoreText,
    Sentence,
    ShareText,
    WhoText,
    part_json,
)

ANNA = WhoText("person", "Anna")


def test_english() -> None:
    assert str(Sentence("{name} played {move}.", {"name": ANNA, "move": MoveText("e4")})) == "Anna played e4."
    assert str(Sentence("{n} traps", {"n": 1}, one="{n} trap")) == "1 trap"
    assert str(Sentence("{n} traps", {"n": 2}, one="{n} trap")) == "2 traps"
    assert (
        str(Sentence("{where} it looks good", {"where": "at once"}, is_capital=True))
        == "At once it looks good"
    )
    assert [str(ShareText(share)) for share in (0, 0.004, 0.294, 0.295, 1)] == [
        "0 %",
        "under 1 %",
        "29 %",
        "30 %",
        "100 %",
    ]
    assert [str(ScoreText(text)) for text in ("-1.20", "+0.5", "won")] == [
        "\N{MINUS SIGN}1.20",
        "+0.5",
        "won",
    ]
    assert [str(ListText(["2"])), str(ListText(["2", "3", "5"]))] == ["2", "2, 3 and 5"]
    assert str(JoinedText(["One.", "", "Two."])) == "One. Two."
    assert str(JoinedText(["one", "two"], is_list=True)) == "one, two"
    assert str(BracketText(ScoreText("-1"))) == " (\N{MINUS SIGN}1)"


def test_json_has_the_key_and_what_it_uses() -> None:
    share = Sentence("{share} of the game", {"share": ShareText(0.29)})
    found = Sentence(
        "{name} lost {share}", {"name": ANNA, "share": share, "other": "x"}, you="You lost {share}"
    ).to_json()
    assert found == {
        "key": "{name} lost {share}",
        "you": "You lost {share}",
        "places": {
            "name": {"who": "person"},
            "share": {"key": "{share} of the game", "places": {"share": {"share": 0.29}}},
        },
    }
    assert Sentence("A slip").to_json() == {"key": "A slip"}
    counted = Sentence("many", {"n": 2}, one="one", you="yours", you_one="your one")
    assert counted.to_json() == {
        "key": "many",
        "places": {"n": 2},
        "you": "yours",
        "one": "one",
        "you_one": "your one",
    }
    joined = JoinedText([MoveText("pass"), ListText([ScoreText("1.5")])], is_list=True)
    assert part_json(joined) == {"commas": [{"move": "pass"}, {"list": [{"score": "1.5"}]}]}
    assert part_json(JoinedText(["a", BracketText("b")])) == {"all": ["a", {"brackets": "b"}]}
    assert Sentence("x", {}, is_capital=True).to_json() == {"key": "x", "capital": True}
