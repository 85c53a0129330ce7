"""Assistants that an installed package brings: the example of coeval/README.md, built and installed for real."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coeval.domain import ColumnRole, Instance, Task
from coeval.errors import InputError
from coeval.extensions.fusion import assistants as catalogue
from coeval.extensions.fusion.protocol import choose_assistants, score_instances

ROOT = Path(__file__).resolve().parents[3]
ROWS = [
    Instance("a", "q", "One two three.", context={"nli": "0.5"}),
    Instance("b", "q", "One.", context={"nli": "1"}),
]
TASK = Task("t", "T", columns={"nli": ColumnRole.ASSISTANT_SCORE})


def example(heading: str) -> str:
    """The file of the plug-in example that begins with this comment."""
    text = (ROOT / "coeval" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", text, re.S)
    return next(block for block in blocks if block.startswith(heading))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path that packages are installed into."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in ("brevity",):
        sys.modules.pop(name, None)


def install(package: Path, site: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    done = subprocess.run([*command, "--target", str(site), str(package)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_example_is_installed_offered_and_scores(site: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "brevity.py").write_text(example("# brevity.py"))
    (package / "pyproject.toml").write_text(example("# pyproject.toml"))
    install(package, site)
    chosen = choose_assistants(ROWS, TASK, [])
    assert [one.name for one in chosen] == ["TF-IDF cosine", "Brevity", "nli"]
    _, brevity, nli = chosen
    assert (brevity.low, brevity.high, brevity.direction) == (0, 1, "higher")
    assert score_instances([brevity], ROWS)["Brevity"] == pytest.approx([1 / 3, 1])
    assert (nli.low, nli.high) == (0.5, 1) and score_instances([nli], ROWS)["nli"] == [0.5, 1]


def test_a_package_that_cannot_be_loaded_is_named(site: Path) -> None:
    info = site / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    for target, said in (("nowhere:x", "cannot be loaded"), ("math:pi", "is not an Assistant with a score")):
        (info / "entry_points.txt").write_text(f"[{catalogue.GROUP}]\nbad = {target}\n")
        with pytest.raises(InputError, match=f"“bad” of broken {said}"):
            choose_assistants(ROWS, TASK, ["TF-IDF cosine"])
