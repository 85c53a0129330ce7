"""The house rules that a machine can hold: which way imports point, and which room a library lives in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "coeval").rglob("*.py"))

LEVELS = [
    {"domain", "errors", "settings"},
    {"ballots", "scrutiny", "datasets", "stats", "llm"},
    {"store"},
    {"study", "export"},
    {"cli", "__main__", "ui"},
]
"""Rooms from the ground up: a room may import from its own level and from those below."""

HOMES = {
    "gradio": "coeval/ui/",
    "fastapi": "coeval/ui/",
    "starlette": "coeval/ui/",
    "openai": "coeval/llm/client.py",
    "sqlite3": "coeval/store/",
    "sqlite_utils": "coeval/store/",
    "altair": "coeval/ui/",
}
SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.S
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively: write the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def level(room: str) -> int:
    return next((i for i, rooms in enumerate(LEVELS) if room in rooms), -1)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    parts = path.relative_to(ROOT / "coeval").with_suffix("").parts
    if parts == ("__init__",):
        return
    here = level(parts[0])
    assert here >= 0, f"{name_of(path)} is in no room of the house"
    for name in imports(path):
        if name.startswith("coeval."):
            there = level(name.split(".")[1])
            assert there <= here, f"{name_of(path)} imports {name}, which stands above it"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_libraries_stay_in_their_rooms(path: Path) -> None:
    for name in imports(path):
        home = HOMES.get(name.split(".")[0])
        assert home is None or name_of(path).startswith(home), (
            f"{name_of(path)} imports {name}: its room is {home}"
        )


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_sql_stays_in_the_store(path: Path) -> None:
    if name_of(path).startswith("coeval/store/"):
        return
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    found = [text for text in texts if SQL.search(text)]
    assert not found, f"{name_of(path)} holds SQL: {found[0][:80]}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_settings_read_the_environment(path: Path) -> None:
    if name_of(path) == "coeval/settings.py":
        return
    text = path.read_text(encoding="utf-8")
    assert "os.environ" not in text and "getenv" not in text, f"{name_of(path)} reads the environment"


def test_domain_imports_nothing_of_ours() -> None:
    for name in ("domain", "errors"):
        path = ROOT / "coeval" / f"{name}.py"
        assert not [found for found in imports(path) if found.startswith("coeval")]


def test_top_level_holds_what_the_owner_fixed() -> None:
    wanted = {"app.py", "requirements.txt", "README.md", "coeval", "data", "tests", "Dockerfile"}
    assert wanted <= {path.name for path in ROOT.iterdir()}
