"""The house rules that a machine can hold: which way imports point, and which room a library lives in.

Each rule is one test that lists every offender.
"""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "coeval").rglob("*.py"))

FLOORS = (
    ("domain", "errors", "clock", "folded_text", "safe_csv", "settings", "language", "extending"),
    ("rules", "stats", "datasets", "llm.reading", "llm.prompting"),
    ("llm", "store"),
    ("usecases", "frame"),
    ("cli", "ui", "__main__", "extensions", "judge"),
)
"""Rooms from the ground up: a room imports from its own floor and from those below."""

FORBIDDEN = (("ui", "store"), ("cli", "store"))
"""Rooms that may not import others although those stand below: what they need goes through the use cases."""

PAGES, QUERIES = "coeval/extensions/*/page*.py", "coeval/extensions/*/queries*.py"
"""Within an extension the name of a file says which layer it is of; ``commands*.py`` are commands."""

HOMES = {
    "gradio": "coeval/ui/",
    "fastapi": "coeval/ui/",
    "starlette": "coeval/ui/",
    "openai": "coeval/llm/client/",
    "psycopg": "coeval/store/",
    "psycopg_pool": "coeval/store/",
    "sqlite3": "coeval/store/",
    "sqlite_utils": "coeval/store/",
}
SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.S
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    """``coeval/llm/client/client.py`` to ``llm.client.client``; a package by its own name."""
    parts = path.relative_to(ROOT / "coeval").with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every name that a file imports, in full."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively: write the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(path: Path) -> list[str]:
    """What a file imports of ours, as rooms: ``llm.client.client.Client``."""
    return [name.removeprefix("coeval.") for name in imports(path) if name.startswith("coeval.")]


def is_in(room: str, place: str) -> bool:
    return room == place or room.startswith(place + ".")


def floor(room: str) -> int:
    """The floor of the longest name that holds the room; -1 where none does."""
    holding = [(len(place), i) for i, places in enumerate(FLOORS) for place in places if is_in(room, place)]
    return max(holding)[1] if holding else -1


@pytest.mark.slow
def test_imports_point_one_way() -> None:
    wrong = [f"{name_of(path)} is in no room of the house" for path in FILES if floor(room_of(path)) < 0
             and room_of(path)]  # fmt: skip
    for path in FILES:
        room = room_of(path)
        wrong += [
            f"{name_of(path)} imports {name}, which stands above it"
            for name in ours(path)
            if floor(name) > floor(room) >= 0
            and not is_in(name, "extensions")  # these have a test of their own
        ]
        wrong += [
            f"{name_of(path)} imports {name}: {here} may not import {there}"
            for name in ours(path)
            for here, there in FORBIDDEN
            if is_in(room, here) and is_in(name, there)
        ]
    assert not wrong, "\n".join(wrong)


def circles(package: str) -> list[str]:
    """The rooms of one folder that import each other in a circle."""
    prefix = package + "." if package else ""
    graph: dict[str, set[str]] = {}
    for path in FILES:
        room = room_of(path)
        if (
            not is_in(room, package)
            if package
            else not room or is_in(room, "extensions") or is_in(room, "judge")
        ):
            continue
        here = room.removeprefix(prefix).split(".")[0]
        for name in ours(path):
            there = name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) else ""
            if there in ("", here, "extensions" if not package else "") or not here:
                continue
            if is_child(prefix + there):
                graph.setdefault(here, set()).add(there)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))
    return []


@cache
def rooms() -> frozenset[str]:
    named = {room_of(path) for path in FILES}
    return frozenset(named | {room.rsplit(".", 1)[0] for room in named if "." in room})


def is_child(room: str) -> bool:
    return room in rooms()


def test_rooms_of_a_folder_do_not_import_in_circles() -> None:
    packages = sorted({room_of(path) for path in FILES if path.name == "__init__.py"})
    # a package's own __init__ may gather its rooms
    found = {package or "coeval": circles(package) for package in packages}
    wrong = [f"{package}: {' -> '.join(circle)}" for package, circle in found.items() if circle]
    assert not wrong, "\n".join(wrong)


def test_libraries_stay_in_their_rooms() -> None:
    wrong = [
        f"{name_of(path)} imports {name}: its room is {home}"
        for path in FILES
        for name in imports(path)
        if (home := HOMES.get(name.split(".")[0]))
        and not name_of(path).startswith(home)
        and not (home == "coeval/ui/" and path.match(PAGES))
    ]
    assert not wrong, "\n".join(wrong)


def test_sql_stays_in_the_store() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno} holds SQL: {node.value[:60]}"
        for path in FILES
        if not name_of(path).startswith("coeval/store/") and not path.match(QUERIES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_settings_read_the_environment() -> None:
    wrong = [
        name_of(path)
        for path in FILES
        if name_of(path) != "coeval/settings.py"
        and re.search(r"os\.environ|getenv", path.read_text(encoding="utf-8"))
    ]
    assert not wrong, f"these read the environment: {wrong}"


def test_the_ground_floor_imports_nothing_of_ours() -> None:
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in FILES
        if room_of(path).split(".")[0] in ("domain", "errors", "clock", "safe_csv", "language")
        for name in ours(path)
        if name.split(".")[0] != room_of(path).split(".")[0]
    ]
    assert not wrong, "\n".join(wrong)


def test_top_level_holds_what_the_owner_fixed() -> None:
    wanted = {"app.py", "requirements.txt", "README.md", "coeval", "data", "tests", "Dockerfile"}
    assert wanted <= {path.name for path in ROOT.iterdir()}


UNWALLED = {
    ("coeval/__init__.py", "judge"),  # Judge is a public name of the package
}
"""Public names of the package, which work where the extension is installed."""


def _names_extension(path: Path) -> Iterator[str]:
    for name in ours(path):
        if is_in(name, "extensions") and name.count(".") > 0:
            yield name.split(".")[1]


def test_the_core_names_no_extension() -> None:
    found = {
        (name_of(path), extension)
        for path in FILES
        if not is_in(room_of(path), "extensions")
        for extension in _names_extension(path)
    }
    known = {(place, extension) for place, extension in found for start, other in UNWALLED
             if place.startswith(start) and extension == other}  # fmt: skip
    assert found == known, f"these files of the core name an extension: {sorted(found - known)}"
    gone = {
        one for one in UNWALLED if not any(place.startswith(one[0]) and one[1] == e for place, e in found)
    }
    assert not gone, f"these are walled now; take them off the list: {sorted(gone)}"


def test_no_extension_names_another() -> None:
    wrong = [
        f"{name_of(path)} names {extension}"
        for path in FILES
        if is_in(room_of(path), "extensions") and room_of(path).count(".") > 0
        for extension in _names_extension(path)
        if extension != room_of(path).split(".")[1]
    ]
    assert not wrong, "\n".join(wrong)


SAVE_PATH = ("steps", "queue", "navigation")
DESIGN = ("usecases.crowd", "store.queries.teams", "store.queries.planted_errors",
          "store.queries.crowd_studies", "rules.planted_errors")  # fmt: skip


def test_the_save_path_meets_the_design_of_a_study_in_policies_alone() -> None:
    wrong = [
        f"{name_of(path)} imports {name}: go through policies.py"
        for path in (ROOT / "coeval" / "usecases" / "scrutiny").glob("*.py")
        if path.stem in SAVE_PATH
        for name in ours(path)
        if any(is_in(name, place) for place in DESIGN)
    ]
    assert not wrong, "\n".join(wrong)
