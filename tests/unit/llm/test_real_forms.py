"""A real small model on the ladder: the answers to every kind of question by rung, and within their bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pytest

from coeval.domain import Ask, Instance, Task
from coeval.errors import UnreadableAnswerError
from coeval.extensions.rubrics.queries import Criterion as RubricCriterion
from coeval.extensions.rubrics.questions import RubricsRun, ask_criteria, ask_judgments
from coeval.extensions.rubrics.scoring import Rubric
from coeval.extensions.spans.drafting import SpanSettings, ask_spans, build_request
from coeval.extensions.spans.typology import load_typology
from coeval.frame import judge_frame
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.proposals import draft_criteria
from coeval.llm.running.runner import build_runner
from coeval.settings import Settings
from coeval.store import Store
from coeval.store.queries.calls import StoredLedger
from tests.support.models.real_model import RealModel

pytestmark = pytest.mark.slow

TEXTS = pd.DataFrame({"input": ["Why is the sky blue?"], "output": ["Air scatters blue light most."]})


@pytest.mark.parametrize(
    ("protocol", "rungs"),
    [
        ("score-only", {"label", "asked again", ""}),
        ("coeval", {"schema", "asked again", ""}),
    ],
)
def test_every_score_is_on_the_scale_and_keeps_its_rung(
    real_model: RealModel, tmp_path: Path, protocol: str, rungs: set[str]
) -> None:
    table = judge_frame(
        TEXTS, ["The answer is right."], real_model.name, settings=Settings(base_url=real_model.url, timeout=600),
        protocol=protocol, max_tokens=60, temperature=0.0, ledger=tmp_path / "l.db", progress=False,
    )  # fmt: skip
    (row,) = table.itertuples()
    assert row.rung in rungs
    # without a rung there is no score, and the reason says why
    assert (1 <= row.score <= 5) if row.rung else (pd.isna(row.score) and row.reason)


T = TypeVar("T")
TASK = Task("t", "T", "Answer for a child.")
SKY = Instance("1", "Why is the sky blue?", "Air scatters blue light most.")


def carry_out(real_model: RealModel, folder: Path, draft: Callable[[Ask], Awaitable[T]]) -> T:
    """Return what ``draft`` makes of the model's answers."""

    async def run() -> T:
        settings = Settings(base_url=real_model.url, timeout=600)
        async with build_runner(settings, StoredLedger(Store(folder / "l.db")), concurrency=1) as runner:
            return await draft(runner.ask)

    return asyncio.run(run())


def test_criteria_stay_within_their_bounds(real_model: RealModel, tmp_path: Path) -> None:
    """Without bounds, this model wrote one list for eight minutes."""
    options = JudgeOptions(real_model.name, max_tokens=120)
    try:
        found = carry_out(real_model, tmp_path, lambda ask: draft_criteria(ask, TASK, options, count=2))
    except UnreadableAnswerError as error:
        assert "asked twice" in str(error)
        return
    assert 1 <= len(found) <= 2 and all(len(one.text) <= 300 for one in found)


def test_rubrics_are_written_and_judged_by_schema(real_model: RealModel, tmp_path: Path) -> None:
    settings = RubricsRun(real_model.name, temperature=0.0, max_tokens=250, count=2)
    written = carry_out(real_model, tmp_path, lambda ask: ask_criteria(ask, TASK, SKY, settings))
    assert len(written.rubrics) <= 2
    assert bool(written.rubrics) == (written.rung in ("schema", "asked again")) == (not written.reason)
    criteria = [
        RubricCriterion(n, 1, Rubric(text), None) for n, text in ((1, "It is right."), (2, "It is brief."))
    ]
    judged = carry_out(real_model, tmp_path, lambda ask: ask_judgments(ask, TASK, SKY, criteria, settings))
    assert [one.criterion for one in judged] == [1, 2]
    for one in judged:
        assert one.value in (0, 1) if one.rung else one.value is None and one.reason and one.raw


def test_spans_are_drafted_by_schema(real_model: RealModel, tmp_path: Path) -> None:
    typology = load_typology("esa")
    request = build_request(
        TASK, SKY, typology, SpanSettings(real_model.name, temperature=0.0, max_tokens=250)
    )
    draft = carry_out(real_model, tmp_path, lambda ask: ask_spans(ask, request, SKY, typology))
    assert draft.rung in ("schema", "asked again") if not draft.reason else not draft.rung and not draft.spans
    assert all(span.severity in ("minor", "major") for span in draft.spans)
