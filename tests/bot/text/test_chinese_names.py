import copy
import json

from bot.text.chinese_names import with_chinese_names
from bot.text.sentence import MoveText, Sentence
from engine.game import MoveName
from engine.games import get_rules

NAME = MoveName("C2=5", "炮二平五")


def test_names_of_moves_get_their_chinese_form() -> None:
    values = {"name": NAME, "names": (NAME, NAME), "steps": [{"name": NAME, "rows": ["..", "rn"]}], "n": 1}
    assert json.loads(json.dumps(with_chinese_names(values))) == {
        "name": "C2=5",
        "name_chinese": "炮二平五",
        "names": ["C2=5", "C2=5"],
        "names_chinese": ["炮二平五", "炮二平五"],
        "steps": [{"name": "C2=5", "name_chinese": "炮二平五", "rows": ["..", "rn"]}],
        "n": 1,
    }


def test_names_of_other_games_stay_alone() -> None:
    rules = get_rules("chess")
    name = rules.move_name(rules.initial(), rules.parse_move(rules.initial(), "g1f3"))
    values = {"name": name, "names": [name], "none": [], "null": None}
    assert with_chinese_names(values) == values


def test_names_in_sentences_and_copies() -> None:
    sentence = Sentence("Not {move}", {"move": MoveText(copy.deepcopy(NAME))})
    assert sentence.to_json()["places"] == {"move": {"move": "C2=5", "move_chinese": "炮二平五"}}
    assert str(sentence) == "Not C2=5"
