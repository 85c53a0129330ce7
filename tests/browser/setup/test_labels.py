"""Set-up's Facets and Labelling tabs in Chromium: a study is measured and its judge corrected on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter
from tests.support.serving.server import Running, new_context
from tests.support.studies.labelled_study import make_labelled_study

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect


@pytest.fixture
def context(tmp_path: Path) -> Context:
    context = new_context(tmp_path)
    import_study(context, OPERATOR, make_labelled_study(20, labelled=("old",)))
    return context


@pytest.fixture
def owner(page: Any, context: Context) -> Iterator[Any]:
    server = Running(context)
    with server:
        enter(page, server.url, "Olu")
        page.goto(f"{server.url}/admin/?task=labels&tab=facets")
        yield page


@pytest.mark.slow
def test_a_study_is_measured_and_its_judge_corrected(owner: Any) -> None:
    owner.locator("#facets-measure").click()
    expect(owner.locator("#facets-ruler")).to_contain_text("Separation reliability")
    rows = owner.locator("#facets-ruler section", has_text="Severity of raters").locator("tbody tr")
    expect(rows).to_have_count(5)
    expect(owner.locator("#facets-chart svg.marks").first).to_be_visible()
    owner.goto(owner.url.replace("tab=facets", "tab=labelling"))
    owner.locator("#labelling-labels input").fill("10")
    owner.locator("#labelling-draw").click()
    expect(owner.locator("#labelling-means")).to_contain_text(
        "of 10 planned instances are labelled (in force)"
    )
    owner.locator("#labelling-correct").click()
    expect(owner.locator("#labelling-corrected tbody tr")).to_have_count(4)
    expect(owner.locator("#labelling-chart svg.marks").first).to_be_visible()
