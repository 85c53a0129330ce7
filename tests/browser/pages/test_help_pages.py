"""The help pages: tables keep names whole where there is room, and no page scrolls sideways."""

from __future__ import annotations

from typing import Any

import pytest

from coeval.ui.server.plain_pages import TITLES
from tests.support.screens.bench import Bench

BROKEN_NAMES = r"""() => [...document.querySelectorAll('td:first-child')]
  .filter((cell) => /^[\w.]+$/.test(cell.textContent.trim()))
  .filter((cell) => {
    const words = document.createRange()
    words.selectNodeContents(cell)
    // the box around a name ends a few pixels below its letters
    const ends = [...words.getClientRects()].map((line) => line.bottom)
    return Math.max(...ends) - Math.min(...ends) > 12
  })
  .map((cell) => cell.textContent)"""


@pytest.mark.parametrize("width", [390, 700, 1440])
def test_tables_fit(page: Any, bench: Bench, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    names = 0
    for title in TITLES:
        page.goto(f"{bench.root}/help/{title}")
        page.locator("h1").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), title
        names += page.locator("td:first-child").count()
        if width >= 700:
            assert page.evaluate(BROKEN_NAMES) == [], title
    assert names
