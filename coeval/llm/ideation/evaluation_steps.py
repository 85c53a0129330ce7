"""Evaluation steps for a criterion (auto-CoT), asked for once and then a person's to edit."""

from __future__ import annotations

from pathlib import Path

from coeval.domain import Ask, Criterion, Task
from coeval.errors import UnreadableAnswerError
from coeval.llm.ideation.criteria import ask_list
from coeval.llm.prompting.asking import render_request
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.prompting.values import render_criterion, scale_values, task_values
from coeval.llm.reading.lists import parse_steps


async def draft_steps(
    ask: Ask, task: Task, criterion: Criterion, model: str, *, templates: Path | None = None
) -> str:
    """Evaluation steps for a criterion, as a numbered list a person can edit; asked for once, then stored.

    Raises:
        ModelError: no answer could be had.
        UnreadableAnswerError: it lists no steps.
    """
    values = task_values(task) | scale_values(criterion.scale) | {"criterion": render_criterion(criterion)}
    request = render_request("steps", values, JudgeOptions(model, templates=templates))
    steps = await ask_list(ask, request, 0, parse_steps, templates)
    if not steps:
        raise UnreadableAnswerError(
            f"The model was asked twice and wrote no steps for “{criterion.text[:80]}”: try again, or write them."
        )
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
