"""The map of the house, coeval/README.md: every path that it names exists, and every room is on it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAP = (ROOT / "coeval" / "README.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`((?:coeval|tests|data)/[\w./]+)`", MAP)


def test_every_path_on_the_map_exists() -> None:
    # what a recipe has one write is called NAME
    lost = [path for path in NAMED if "NAME" not in path and not (ROOT / path).exists()]
    assert len(NAMED) > 50 and not lost, f"coeval/README.md names what is not there: {lost}"


def test_every_room_is_on_the_map() -> None:
    """Rooms down to the second level; what is further inside is found from there."""
    packages = [path.parent.relative_to(ROOT) for path in (ROOT / "coeval").rglob("__init__.py")]
    rooms = {path for path in packages if len(path.parts) in (2, 3)}
    named = [Path(path) for path in NAMED]
    missing = sorted(
        str(room) for room in rooms if not any(path == room or room in path.parents for path in named)
    )
    assert not missing, f"coeval/README.md leaves out {missing}"
