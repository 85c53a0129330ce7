"""A real small model on the ladder: each protocol's answers by rung, and drafted criteria within their bounds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pandas as pd
import pytest

from coeval.domain import Answer, Request, Task
from coeval.errors import UnreadableAnswerError
from coeval.frame import judge_frame
from coeval.llm.client.client import Client
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.proposals import draft_criteria
from coeval.settings import Settings
from tests.support.models.real_model import RealModel

pytestmark = pytest.mark.slow

TEXTS = pd.DataFrame({"input": ["Why is the sky blue?"], "output": ["Air scatters blue light most."]})


@pytest.mark.parametrize(
    ("protocol", "rungs"),
    [
        ("score-only", {"label", "asked again", ""}),
        ("analyze-rate", {"label", "asked again", ""}),
        ("free-text", {"label", "asked again", ""}),
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


def test_criteria_stay_within_their_bounds(real_model: RealModel) -> None:
    """Without bounds, this model wrote one list for eight minutes."""
    client = Client(Settings(base_url=real_model.url, timeout=600))

    async def ask(request: Request, sample: int) -> Answer:
        return await client.ask(request)

    async def draft() -> list[str]:
        try:
            found = await draft_criteria(
                ask,
                Task("t", "T", "Answer for a child."),
                JudgeOptions(real_model.name, max_tokens=120),
                count=2,
            )
        except UnreadableAnswerError as error:
            assert "asked twice" in str(error)
            return []
        finally:
            await client.close()
        return [one.text for one in found]

    criteria = asyncio.run(draft())
    assert len(criteria) <= 2 and all(len(text) <= 300 for text in criteria)
