"""A newcomer in Chromium: from an empty file to the first saved judgment, with no wrong turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.tasks import get_task_state
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.newcomer import CRITERIA, DESCRIPTION, SLUG, Newcomer
from tests.support.serving.server import Running, new_context

pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return new_context(tmp_path, demo=True)


@pytest.fixture
def newcomer(page: Any, context: Context, tmp_path: Path) -> Iterator[Newcomer]:
    """A person who is signed in to an app that has only its examples."""
    with Running(context) as server:
        person = Newcomer(page, server.url, tmp_path)
        person.start()
        yield person


def test_a_newcomer_saves_a_first_judgment_in_eight_actions(newcomer: Newcomer, context: Context) -> None:
    newcomer.bring_data()
    newcomer.judge()
    newcomer.page.locator(".wb-chip[aria-current]", has_text="2").wait_for()
    (saved,) = newcomer.wait_saved(context)
    assert (saved["annotator"], saved["score"], saved["arm"]) == ("Noor", "4.0", "undrafted")
    assert len(newcomer.actions) <= 8, newcomer.actions
    stands = get_task_state(context, OPERATOR, SLUG)
    assert (stands.task.description, stands.n_instances, stands.version) == (DESCRIPTION, 3, 1)
    current = get_criteria_set(context, OPERATOR, SLUG)
    assert current and [criterion.text for criterion in current.criteria] == CRITERIA.splitlines()


def test_import_and_judge_without_criteria_asks_for_the_overall_quality(
    newcomer: Newcomer, context: Context
) -> None:
    newcomer.bring_data(texts=False)
    newcomer.judge()
    (saved,) = newcomer.wait_saved(context)
    assert saved["criterion"] == "Overall quality (1 worst, 5 best)"
    assert len(newcomer.actions) <= 6, newcomer.actions
