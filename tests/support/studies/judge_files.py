"""A judge made for a test: two criteria, one asker unless more are named, prompts of this version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coeval.domain import Criterion, Scale, Task
from coeval.extensions.judge.model.file_schema import (
    JudgeFile,
    describe_asking,
    describe_criterion,
    describe_task,
)
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.protocol import Brief, Protocol, build_protocol

SALT = "a salt for tests, made up"
TASK = Task("answers", "Answers", "Answer the question.", "Question", "Answer")
CRITERIA = (Criterion("Be right.", id=1), Criterion("Be brief.", scale=Scale(0, 2), id=2))


def make_protocol(model: str = "m", criteria: Sequence[Criterion] = CRITERIA, **options: Any) -> Protocol:
    """A protocol over the criteria, by their ids."""
    by_id = {criterion.id: criterion for criterion in criteria}
    return build_protocol(Brief(TASK, by_id, JudgeOptions(model, **options)))


def make_judge(
    *models: str,
    criteria: Sequence[Criterion] = CRITERIA,
    options: dict[str, Any] | None = None,
    **parts: Any,
) -> JudgeFile:
    """A judge whose askers are called as their models."""
    askings = [
        describe_asking(each, make_protocol(each, criteria, **(options or {}))) for each in models or ("m",)
    ]
    values: dict[str, Any] = {
        "name": "A judge",
        "salt": SALT,
        "task": describe_task(TASK),
        "criteria": tuple(map(describe_criterion, criteria)),
        "judges": tuple(askings),
    }
    return JudgeFile(**values | parts)
