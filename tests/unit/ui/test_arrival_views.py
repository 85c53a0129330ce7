"""What a person reads who comes to a study that takes nobody."""

from __future__ import annotations

import json

import pytest

from coeval.domain import Plan, StudyState, Terms
from coeval.ui.crowd_pages.arrival_views import show_shut

TERMS = Terms(service="link", code_done="DONE1", code_screened="NOT1", code_full="FULL1")


@pytest.mark.parametrize(
    ("state", "ends"), [(StudyState.PLANNED, False), (StudyState.PAUSED, True), (StudyState.CLOSED, True)]
)
def test_a_study_that_has_not_started_hands_out_no_code(state: StudyState, ends: bool) -> None:
    view = show_shut(Plan(state, terms=TERMS), full=False)
    assert ("FULL1" in json.dumps(view.body, default=str)) is ends
