"""The sentences of Set-up's Crowd page."""

from __future__ import annotations

import pytest

from coeval.domain import Arm, Plan
from coeval.ui.setup.crowd_views import progress_view
from coeval.usecases.crowd.overview import Overview


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        ({Arm.ASSISTED: 5}, "once for each person: 5. Pay"),
        ({Arm.ASSISTED: 3, Arm.BLIND: 2}, "once for each person: 5, drawn as assisted 3, blind 2. Pay"),
    ],
)
def test_what_was_opened_is_said_with_its_arms(arms: dict[Arm, int], said: str) -> None:
    assert said in str(progress_view("demo", Overview(Plan(), (), (), arms), ""))
