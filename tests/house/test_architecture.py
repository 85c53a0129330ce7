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

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "coeval").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

FLOORS = (
    ("domain", "errors", "clock", "safe_csv", "settings", "language"),
    ("rules", "stats", "datasets", "llm.reading", "llm.prompting"),
    ("llm", "store"),
    ("judge",),
    ("study", "frame"),
    ("cli", "ui", "__main__"),
)
"""Rooms from the ground up: a room imports from its own floor and from those below."""

FORBIDDEN = (("ui", "store"), ("cli", "store"))
"""Rooms that may not import others although those stand below: what they need goes through the use cases."""

HOMES = {
    "gradio": "coeval/ui/",
    "fastapi": "coeval/ui/",
    "starlette": "coeval/ui/",
    "altair": "coeval/ui/",
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


def test_imports_point_one_way() -> None:
    wrong = [f"{name_of(path)} is in no room of the house" for path in FILES if floor(room_of(path)) < 0
             and room_of(path)]  # fmt: skip
    for path in FILES:
        room = room_of(path)
        wrong += [
            f"{name_of(path)} imports {name}, which stands above it"
            for name in ours(path)
            if floor(name) > floor(room) >= 0
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
        if not is_in(room, package) if package else not room:
            continue
        here = room.removeprefix(prefix).split(".")[0]
        for name in ours(path):
            there = name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) else ""
            if there and there != here and here and is_child(prefix + there):
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


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_every_import_of_ours_names_a_module_that_is_there() -> None:
    """What is only imported in a test that seldom runs would go unnoticed after a move."""
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in (*FILES, *TESTS)
        for name in imports(path)
        if name.split(".")[0] in ("coeval", "tests")
        and not is_module(name)
        and not is_module(name.rpartition(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_libraries_stay_in_their_rooms() -> None:
    wrong = [
        f"{name_of(path)} imports {name}: its room is {home}"
        for path in FILES
        for name in imports(path)
        if (home := HOMES.get(name.split(".")[0])) and not name_of(path).startswith(home)
    ]
    assert not wrong, "\n".join(wrong)


def test_sql_stays_in_the_store() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno} holds SQL: {node.value[:60]}"
        for path in FILES
        if not name_of(path).startswith("coeval/store/")
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


MOST = 14
"""Files of one folder, about what a stranger can take in."""

REMEDY = "put those that belong together in a folder of their own inside it"


def count_files(folder: Path) -> int:
    return sum(path.suffix in (".py", ".js", ".css") for path in folder.iterdir())


def test_a_folder_holds_about_a_dozen_files() -> None:
    """Migrations are one file each and only ever grow; their registry is their map."""
    folders = {path.parent for path in (ROOT / "coeval").rglob("*") if path.suffix in (".py", ".js", ".css")}
    crowded = {
        name_of(folder): n
        for folder in folders
        if folder.name != "migrations" and (n := count_files(folder)) > MOST
    }
    assert not crowded, f"more than {MOST} files: {REMEDY}: {crowded}"


def test_a_folder_that_a_recipe_adds_to_has_room() -> None:
    recipes = (ROOT / "coeval" / "README.md").read_text(encoding="utf-8")
    named = {ROOT / name for name in re.findall(r"`(coeval/[\w/]+)/\w*NAME\w*\.py`", recipes)}
    full = [
        name_of(folder) for folder in named if folder.name != "migrations" and count_files(folder) >= MOST
    ]
    assert len(named) > 4 and not full, f"the next who follows the recipe finds no room: {REMEDY}: {full}"


def test_top_level_holds_what_the_owner_fixed() -> None:
    wanted = {"app.py", "requirements.txt", "README.md", "coeval", "data", "tests", "Dockerfile"}
    assert wanted <= {path.name for path in ROOT.iterdir()}
