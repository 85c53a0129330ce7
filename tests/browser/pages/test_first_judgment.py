"""A newcomer in Chromium: from an empty file to the first saved judgment, with no wrong turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coeval.usecases.access import OPERATOR
from coeval.usecases.criteria_rounds import get_criteria_set
from coeval.usecases.tasks import get_task_state
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.newcomer import CRITERIA, DESCRIPTION, SLUG, Newcomer
from tests.support.serving.server import Running, new_context

pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT)


def test_a_newcomer_saves_a_first_judgment_in_eight_actions(page: Any, tmp_path: Path) -> None:
    page.set_default_timeout(30_000)
    context = new_context(tmp_path, demo=True)
    with Running(context) as server:
        newcomer = Newcomer(page, server.url, tmp_path)
        newcomer.start()
        newcomer.bring_data()
        newcomer.judge()
        (saved,) = newcomer.wait_saved(context)
        assert (saved["annotator"], saved["score"], saved["arm"]) == ("Noor", "4.0", "undrafted")
        assert len(newcomer.actions) <= 8, newcomer.actions
        stands = get_task_state(context, OPERATOR, SLUG)
        assert (stands.task.description, stands.n_instances, stands.version) == (DESCRIPTION, 3, 1)
        current = get_criteria_set(context, OPERATOR, SLUG)
        assert current and [one.text for one in current.criteria] == CRITERIA.splitlines()
