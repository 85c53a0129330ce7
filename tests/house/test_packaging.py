"""The wheel, made from the source archive, holds what is read at run time, and works without the checkout."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from coeval import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of the wheel, as an installation unpacks it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.glob("*.tar.gz")] == [f"coeval-{__version__}.tar.gz"]
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the installed package, in a folder of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COEVAL_"))}
    command = [sys.executable, "-P", "-m", "coeval", *arguments]
    env = kept | {"PYTHONPATH": str(installed)}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120)


def test_the_wheel_holds_every_file_of_the_package(installed: Path) -> None:
    files = [
        path.relative_to(ROOT)
        for path in (ROOT / "coeval").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".pyi")
    ]
    missing = [str(path) for path in files if not (installed / path).is_file()]
    assert missing == ["coeval/requirements.lock"] and len(files) > 300
    assert (installed / "coeval" / "demo" / "study.json").is_file()
    assert (
        "coeval = coeval.cli.commands:main"
        in next(installed.glob("*.dist-info/entry_points.txt")).read_text()
    )


def test_the_dependencies_are_those_of_the_requirements() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert declared == [line for line in lines if line and not line.startswith(("#", "pytest"))]


@pytest.mark.slow
def test_commands_run_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    told = run(installed, tmp_path, "--help")
    assert told.returncode == 0 and "serve" in told.stdout, told.stderr
    data = tmp_path / "a.csv"
    data.write_text("input,output\nhow,so\n")
    assert run(installed, tmp_path, "import", str(data), "--task", "t").returncode == 0
    assert (tmp_path / "data" / "coeval.db").is_file(), (
        "without a checkout the file stands in the folder at hand"
    )
    assert f"version = {{{__version__}}}" in run(installed, tmp_path, "cite").stdout
    told = run(installed, tmp_path, "check")
    assert re.search(r"schema: v1_schema", told.stdout), told.stdout + told.stderr


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    imported = {
        name.split(".")[0]
        for path in (ROOT / "coeval").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _list_names(node)
    } - {*sys.stdlib_module_names, "coeval"}
    owners = packages_distributions()
    missing = {
        name for name in imported if not {canonicalize_name(owner) for owner in owners[name]} & declared
    }
    assert len(imported) > 25 and not missing


def _list_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
