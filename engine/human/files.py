"""Which human-move model a file is."""

from pathlib import Path

from engine.human.maia import KIND as MAIA
from engine.human.maia import MaiaFamily, MaiaModel
from engine.human.model import BadModel, HumanModel
from engine.human.onnx import Network


def open_model(path: Path) -> HumanModel:
    """The model of a file, or of a folder that holds Maia's networks for several ratings.

    Raises:
        BadModel: There is none, or none that can be used; the message names it and says what is wrong.
    """
    if path.is_dir():
        files = sorted(path.glob("*.onnx"))
        if not files:
            raise BadModel(f"{path}: no file *.onnx in this folder")
        return MaiaFamily(MaiaModel(Network.open(file)) for file in files)
    network = Network.open(path)
    if network.kind == MAIA:
        return MaiaModel(network)
    raise BadModel(f"{path}: models of the kind {network.kind!r} are not known")
