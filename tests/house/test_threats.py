"""The page on security: each promise names the tests that try to break it, and these are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "coeval/ui/help/threats.md").read_text(encoding="utf-8")


def test_each_promise_names_its_test() -> None:
    promised = PAGE.partition("## What is promised")[2].partition("## What is not promised")[0]
    lines = [line for line in promised.splitlines() if line.startswith("- ")]
    assert len(lines) > 15
    for line in lines:
        named = re.findall(r"`(tests/[\w/]+\.py)`", line)
        assert named, line
        for path in named:
            assert "def test_" in (ROOT / path).read_text(encoding="utf-8"), path


def test_each_class_of_attack_is_promised() -> None:
    for path in (ROOT / "tests" / "attack").glob("test_*.py"):
        assert f"`tests/attack/{path.name}`" in PAGE, path.name
