"""A model's answer that could not be read is not repeated from the ledger when somebody tries again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Task
from coeval.errors import ModelError, UnreadableAnswerError
from coeval.usecases import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.model_requests import draft_criteria, draft_steps
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import Reply, Stub, start_stub
from tests.support.models.stub_answers import default_reply
from tests.support.serving.server import new_context


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A model that writes junk until it is told otherwise."""
    with start_stub(reply=lambda body: "I cannot say.") as running:
        yield running


@pytest.fixture
def asked(stub: Stub, tmp_path: Path) -> Iterator[Context]:
    context = new_context(tmp_path, OPENAI_BASE_URL=stub.url, COEVAL_MODEL="m")
    tasks.add_task(context, OPERATOR, Task(slug="q", name="Q", description="Answer."))
    yield context
    context.store.close()


def test_criteria_are_asked_for_anew_and_good_answers_are_kept(stub: Stub, asked: Context) -> None:
    for calls in (2, 4):  # the question, and once more with what was wrong
        with pytest.raises(UnreadableAnswerError, match="asked twice, and its answer cannot be used"):
            asyncio.run(draft_criteria(asked, OPERATOR, "q"))
        assert stub.paid == calls
    stub.reply = default_reply
    first = asyncio.run(draft_criteria(asked, OPERATOR, "q"))
    again = asyncio.run(draft_criteria(asked, OPERATOR, "q"))
    assert len(first.proposals) == 5 and again.proposals == first.proposals
    assert first.opened and again.opened is None, "the second draft waits beside the vote on the first"
    assert stub.paid == 5, "what could be read is not paid for twice"


def test_steps_are_asked_for_anew(stub: Stub, asked: Context) -> None:
    import_study(asked, OPERATOR, replace(make_study(1), runs=()))
    with pytest.raises(UnreadableAnswerError, match="There are no steps for"):
        asyncio.run(draft_steps(asked, OPERATOR, "demo"))
    stub.reply = lambda body: "1. Read it.\n2. Score it."
    steps = asyncio.run(draft_steps(asked, OPERATOR, "demo"))
    assert set(steps.values()) == {"1. Read it.\n2. Score it."}


def test_a_model_that_cannot_be_reached_is_not_asked_for_ever(stub: Stub, asked: Context) -> None:
    stub.reply = lambda body: "I cannot say."
    with pytest.raises(UnreadableAnswerError):
        asyncio.run(draft_criteria(asked, OPERATOR, "q"))
    stub.script(*[Reply(status=401, message="No.")] * 9)
    with pytest.raises(ModelError) as refused:
        asyncio.run(draft_criteria(asked, OPERATOR, "q"))
    assert not isinstance(refused.value, UnreadableAnswerError)
