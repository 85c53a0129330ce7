"""The plan of a fusion: how the scores of assistant evaluators are to be used, for a person to edit and freeze."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain import Answer, Ask, Criterion, Request, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.llm.assistants.catalogue import Assistant, describe_assistants
from coeval.llm.prompting.asking import ask_twice, render_request
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.prompting.values import list_criteria, number_criteria, task_values
from coeval.llm.reading.lists import parse_plan


def render_plan_request(
    task: Task, criteria: Sequence[Criterion], assistants: Sequence[Assistant], options: JudgeOptions
) -> Request:
    """The question for a plan.

    Raises:
        InputError: there is no criterion or no assistant to plan for, or the template is broken.
    """
    if not criteria or not assistants:
        raise InputError(
            "A fusion plan needs at least one criterion and one assistant evaluator: choose some first."
        )
    values = task_values(task) | {"criteria": list_criteria(criteria)}
    values["assistants"] = describe_assistants(assistants, number_criteria(criteria))
    return render_request("plan", values, options)


async def draft_plan(
    ask: Ask,
    task: Task,
    criteria: Sequence[Criterion],
    assistants: Sequence[Assistant],
    options: JudgeOptions,
) -> str:
    """A plan for using the assistants, as text a person edits before it is frozen.

    Raises:
        ModelError: no answer could be had.
        UnreadableAnswerError: none with a plan in it.
        InputError: as `render_plan_request`.
    """

    def problem_of(answer: Answer) -> tuple[str, str]:
        return ("", "") if parse_plan(answer.text) else ("it is empty", "Write the plan and nothing else.")

    request = render_plan_request(task, criteria, assistants, options)
    answers = await ask_twice(ask, request, 0, problem_of, options.templates)
    plan = parse_plan(answers[-1].text)
    if not plan:
        raise UnreadableAnswerError(
            "The model was asked twice and wrote no plan: try again, or write the plan yourself."
        )
    return plan
