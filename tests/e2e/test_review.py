"""Set-up in a browser: the study design, people side by side, a decision, and a vote on the next version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running
from tests.support.studies.scrutiny_steps import here, save


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    """Three people gave one evaluation 1, 4 and 5; one of them misses a criterion."""
    db = tmp_path / "coeval.db"
    context = Context(Store(db), load_settings({}, db=db))
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, make_study())
    people = [sign_in(context, name)[0] for name in ("Ana", "Ben", "Cy")]
    step = get_step(context, people[0], "demo")
    assert step.instance
    for person, score in zip(people, (1, 4, 5), strict=True):
        save(context, person, get_step(context, person, "demo", here(step)), score)
    with Running(context) as live:
        yield live


def test_an_owner_designs_compares_decides_and_opens_the_next_version(
    page: Any,
    server: Running,
) -> None:
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/admin/")
    design(page)
    decide(page)
    page.goto(f"{server.url}/?task=demo")
    page.get_by_role("button", name="Vote on a new version").click()
    page.locator("#ballot .rt-row").nth(1).get_by_text("Be true.").wait_for()


def design(page: Any) -> None:
    state = page.locator("#design-state")
    unfold(page, "Study design")
    state.get_by_text("3 opened").wait_for()
    box = page.locator("#design-blind input[type=number]")
    box.fill("25")
    box.press("Tab")
    page.get_by_role("button", name="Save design").click()
    state.get_by_text("by Olu").wait_for()
    assert box.input_value() == "25"
    assert "no drafts" not in state.inner_text()


def decide(page: Any) -> None:
    page.get_by_role("tab", name="Review").click()
    unfold(page, "How people work")
    page.locator("#review-habits").get_by_text("Do people still read the drafts?").wait_for()
    # the largest disagreement is open, and the list shows it with the others
    page.locator("#review-differing").get_by_role("radio", name="1 to 5 · ", checked=True).wait_for()
    table = page.locator("#review-comparison table")
    table.wait_for()
    assert [cell.inner_text() for cell in table.get_by_role("columnheader").all()][1:] == [
        "Drafted",
        "Ana",
        "Ben",
        "Cy",
    ]
    scores = [
        cell.inner_text().split("\n")[0] for cell in table.locator("tbody tr").first.locator("td").all()
    ]
    assert scores == ["Score", "4", "1", "4", "5"]
    page.locator("#review-score").get_by_label("3").check()
    page.locator("#review-note textarea").fill("between the two")
    page.get_by_role("button", name="Record the decision").click()
    # the list says what was decided, and the next disagreement is open, if there is one
    page.locator("#review-differing").get_by_text("decided 3").wait_for()
    assert page.locator("#review-differing").get_by_role("radio", name="decided 3", checked=True).count() == 0
