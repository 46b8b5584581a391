"""The wheel and the source archive have all that the installed program needs, and nothing else."""

import subprocess
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from scikit_build_core.build import build_sdist, build_wheel

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "engine", "lab", "migrations", "storage")
SHARED = (
    "config.toml",
    "desdemona-standby.service",
    "desdemona.service",
    "monitoring/alerts.yaml",
    "monitoring/grafana.json",
)


def files_of_the_tree(*folders: str) -> set[str]:
    """The project's own files, without what git ignores; of an unpacked archive, all."""
    found = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode == 0:
        return {name for name in found.stdout.splitlines() if (ROOT / name).exists()}
    every = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    files = {str(path.relative_to(ROOT)) for path in every if path.is_file() and path.suffix != ".so"}
    return {name for name in files if "__pycache__" not in name}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the project's folder, where the build backend looks for pyproject.toml."""
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("here")
def test_the_wheel_has_every_file_of_the_packages(tmp_path: Path) -> None:
    """Templates, pages, migrations, weights and models; the compiled core is left out here, to be quick."""
    name = build_wheel(str(tmp_path), {"wheel.cmake": "false"})
    with zipfile.ZipFile(tmp_path / name) as wheel:
        packed = {each for each in wheel.namelist() if ".dist-info/" not in each}
        entry_points = next(each for each in wheel.namelist() if each.endswith("entry_points.txt"))
        assert "desdemona" in wheel.read(entry_points).decode()
    assert packed == files_of_the_tree(*PACKAGES)
    for needed in (
        "bot/arena/static/index.html",
        "bot/dashboard/static/dash.js",
        "bot/dashboard/templates/page.html",
        "engine/games/othello_weights.xz",
        "engine/human/othello_human.onnx",
        "engine/human/othello_persons.onnx",
        "engine/person/othello.json",
        "migrations/env.py",
        "migrations/script.py.mako",
    ):
        assert needed in packed


@pytest.mark.usefixtures("here")
def test_the_source_archive_has_the_tree(tmp_path: Path) -> None:
    name = build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        packed = {each.name.partition("/")[2] for each in archive if each.isfile()}
    wanted = files_of_the_tree(*PACKAGES, "CMakeLists.txt", "LICENSE", "README.md", "deploy", "tests", "docs")
    assert wanted <= packed
    assert {each for each in packed if each.endswith((".so", ".pyc", ".db"))} == set()


def test_units_and_examples_are_installed_with_the_program() -> None:
    """CMakeLists.txt installs them into share/desdemona; this environment was installed by it."""
    files = metadata.files("desdemona") or []
    found = {str(each).partition("share/desdemona/")[2] for each in files if "share/desdemona/" in str(each)}
    assert found == set(SHARED)
    for name in SHARED:
        text = (ROOT / name if name == "config.toml" else ROOT / "deploy" / name).read_text("utf-8")
        assert text.strip()
