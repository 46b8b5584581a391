"""Opens a model file as the right kind of human-move model."""

from pathlib import Path

from engine.human.maia import MaiaFamily, MaiaModel
from engine.human.model import MAIA, PEOPLE, BadModel, HumanModel
from engine.human.onnx import OnnxNetwork
from engine.human.othello import OthelloHumanModel
from engine.human.people.chess import ChessHumanModel
from engine.human.people.network import PeopleNetwork
from engine.human.rating_average import RatingAverage
from engine.human.xiangqi import XiangqiHumanModel

HUMAN_MODEL_KINDS = (MAIA, PEOPLE)
"""Kinds of networks that are human-move models."""


def open_model(path: Path, *, narrow: bool = False) -> HumanModel:
    """Open the model in a file, or in a folder with Maia's networks for several ratings.

    A file's network is loaded immediately, to test it. A folder's networks load on the first query for their
    rating; other models in the folder are ignored.

    Args:
        narrow: For a folder, whether to use only the networks adjacent to a person's rating, rather than a
            mean over several (`engine.human.rating_average`).

    Raises:
        BadModel: The model is missing or unusable; the message names it and says what is wrong.
    """
    if path.is_dir():
        networks = [OnnxNetwork.open(file, start=False) for file in sorted(path.glob("*.onnx"))]
        models = [MaiaModel(network) for network in networks if network.kind == MAIA]
        if not models:
            raise BadModel(f"{path}: no Maia network (*.onnx) in this folder")
        family = MaiaFamily(models)
        ratings = [model.rating for model in models if model.rating is not None]
        return family if narrow else RatingAverage(family, ratings)
    network = OnnxNetwork.open(path)
    if network.kind == MAIA:
        return MaiaModel(network)
    if network.kind == PEOPLE:
        return _people_model(network)
    raise BadModel(f"{path}: a network of the kind {network.kind!r}, which is not a human-move model")


def _people_model(network: OnnxNetwork) -> HumanModel:
    match network.game:
        case "othello":
            return OthelloHumanModel(network)
        case "xiangqi":
            return XiangqiHumanModel(PeopleNetwork(network, network.game))
        case "chess":
            return ChessHumanModel(PeopleNetwork(network, network.game))
    raise BadModel(f"{network.where}: a network of people for {network.game!r}, which no model can use")
