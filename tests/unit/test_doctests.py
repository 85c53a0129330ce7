"""The examples in docstrings say what the code does."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import coeval

ROOT = Path(coeval.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
"""Only modules with examples are imported."""


def test_every_example_gives_what_it_shows() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert sum(result.attempted for result in results.values()) > 300
    assert not {name: result for name, result in results.items() if result.failed}
