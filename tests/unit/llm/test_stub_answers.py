"""What the stub answers by itself is what CoEval's own prompts ask for, so that whole-app tests can rely on it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from coeval.domain import Answer, Criterion, Instance, Request, Scale, Task
from coeval.llm.client.abilities import Abilities, Rung, build_body
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.proposals import draft_criteria, draft_steps
from coeval.llm.protocols.protocol import Brief, Item, build_protocol, list_protocols
from tests.support.models.single_judgment import judge, judge_all
from tests.support.models.stub_answers import default_reply, scale_of

TASK = Task("t", "Retell", "Retell the note.")
CRITERIA = [Criterion("The text is clear.", scale=Scale(1, 3)), Criterion("The text is true.")]
INSTANCE = Instance("i1", "A note.", "The ferry left at noon. A goat had walked aboard and would not leave.")


def make_ask(rung: Rung) -> Any:
    async def ask(request: Request, sample: int) -> Answer:
        return Answer(default_reply(build_body(request, Abilities(rung=rung))), "stop")

    return ask


@pytest.mark.parametrize("rung", list(Rung))
@pytest.mark.parametrize(
    "protocol", [name for name, one in list_protocols().items() if not (one.compares or one.explains)]
)
def test_every_protocol_gets_a_score_on_the_scale(protocol: str, rung: Rung) -> None:
    options = JudgeOptions("m", protocol=protocol, persona="evaluator")
    draft = asyncio.run(judge(make_ask(rung), TASK, CRITERIA[0], INSTANCE, options))
    assert draft.score is not None and 1 <= draft.score <= 3, draft.reason


def test_two_outputs_are_compared_by_their_words_and_not_their_order() -> None:
    other = replace(INSTANCE, id=2, external_id="i2", output="A goat had walked aboard.")
    for first, second in ((INSTANCE, other), (other, INSTANCE)):
        brief = Brief(
            TASK, {1: CRITERIA[0]}, JudgeOptions("m", "pairwise"), rivals=lambda one, rival=second: [rival]
        )
        judged = asyncio.run(build_protocol(brief).judge(make_ask(Rung.TEXT), Item(first.id, (1,)), first))
        (compared,) = judged.comparisons
        assert compared.preference == (1.0 if first is INSTANCE else 0.0)  # the longer one


def test_evidence_is_found_in_the_output() -> None:
    draft = asyncio.run(judge(make_ask(Rung.TEXT), TASK, CRITERIA[1], INSTANCE, JudgeOptions("m")))
    quotes = [quote for row in draft.rows for quote in row.quotes if row.kind == "evidence"]
    assert len(quotes) == 2 and all(quote.found for quote in quotes)


def test_fusion_keeps_each_criterion_s_own_scale() -> None:
    options = JudgeOptions("m", protocol="fusion", samples=1)
    fused = asyncio.run(judge_all(make_ask(Rung.TEXT), TASK, CRITERIA, INSTANCE, options))
    for number, criterion in enumerate(CRITERIA, 1):
        score = fused.drafts[number].score
        assert score is not None and criterion.scale.admits(score)
    assert scale_of("[1] from 1 to 3. [2] from 0 to 9", "2") == (0, 9)


def test_criteria_and_steps_are_listed() -> None:
    ask = make_ask(Rung.SCHEMA)
    proposals = asyncio.run(draft_criteria(ask, TASK, JudgeOptions("m"), samples=4, count=5))
    # Four lists of five that start three further each time: between them all ten, some named more than once.
    assert len(proposals) == 10 and max(one.support for one in proposals) > 1
    assert asyncio.run(draft_steps(ask, TASK, CRITERIA[0], "m")).startswith("1. ")
