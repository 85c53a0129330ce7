"""Fusion: one call judges all criteria, with a frozen plan and the scores of assistant evaluators.

Planning comes first and is a person's to edit; execution follows the plan, several times, and is averaged.
The ablation is the same question without plan, assistants and scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coeval.domain import Answer, Ask, Criterion, ImportedDraft, Instance, Request, Task
from coeval.errors import InputError, ModelError
from coeval.llm.assistants.catalogue import Assistant, describe_assistants, render_assistant_scores
from coeval.llm.prompting.options import FUSION, JudgeOptions
from coeval.llm.prompting.prompts import render_criterion, render_sample, render_scale, task_values
from coeval.llm.protocols.asking import ask_all, ask_twice, render_request
from coeval.llm.protocols.verdicts import (
    Verdict,
    combine_verdicts,
    join_answers,
    unread_problem,
    unscored_reason,
)
from coeval.llm.reading.evaluations import ParsedEvaluation
from coeval.llm.reading.fused_scores import OVERALL, ParsedScore, parse_scores
from coeval.llm.reading.lists import parse_plan

Scores = Mapping[str, ParsedScore]


@dataclass(frozen=True, slots=True)
class Fusion:
    """The drafts of one instance by the text of their criterion.

    "Overall" means two things, and both are named: ``overall_rating`` is the model's own rating of the sample
    as a whole; ``overall_mean`` is the mean over the criteria, None where one of them has no score.
    """

    drafts: Mapping[str, ImportedDraft]
    overall_rating: ImportedDraft

    @property
    def overall_mean(self) -> float | None:
        scores = [draft.score for draft in self.drafts.values() if draft.score is not None]
        return math.fsum(scores) / len(scores) if scores and len(scores) == len(self.drafts) else None


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
    values = task_values(task) | {"criteria": _list_criteria(criteria)}
    values["assistants"] = describe_assistants(assistants, _numbers(criteria))
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
        ModelError: no answer could be had, or none with a plan in it.
        InputError: as `render_plan_request`.
    """

    def problem_of(answer: Answer) -> tuple[str, str]:
        return ("", "") if parse_plan(answer.text) else ("it is empty", "Write the plan and nothing else.")

    request = render_plan_request(task, criteria, assistants, options)
    answers = await ask_twice(ask, request, 0, problem_of, options.templates)
    plan = parse_plan(answers[-1].text)
    if not plan:
        raise ModelError(
            "The model was asked twice and wrote no plan: try again, or write the plan yourself."
        )
    return plan


def render_fusion_calls(
    task: Task,
    criteria: Sequence[Criterion],
    instance: Instance,
    plan: str,
    assistants: Sequence[Assistant],
    scores: Mapping[str, float | None],
    options: JudgeOptions,
) -> list[tuple[Request, int]]:
    """Every first question of a fused judgment, with its sample number; no assistants makes the ablation.

    Raises:
        InputError: there is no criterion, or the options are for another protocol.
    """
    if options.protocol != FUSION or not criteria:
        raise InputError("Fusion needs the protocol “fusion” and at least one criterion: set them first.")
    values = task_values(task) | {
        "criteria": _list_criteria(criteria),
        "sample": render_sample(task, instance),
    }
    values |= {"overall": OVERALL, "overall_scale": render_scale(task.scale), "form": _form(criteria)}
    used = bool(assistants)
    described = describe_assistants(assistants, _numbers(criteria))
    values["assistants"] = f"## Assistant evaluators\n{described}" if used else ""
    values["plan"] = f"## Plan\n{plan.strip()}" if used and plan.strip() else ""
    given = render_assistant_scores(assistants, scores)
    values["scores"] = f"## What the assistants say of this sample\n{given}" if used else ""
    request = render_request(FUSION, values, options)
    return [(request, sample) for sample in range(options.answers)]


async def fuse(
    ask: Ask,
    task: Task,
    criteria: Sequence[Criterion],
    instance: Instance,
    plan: str,
    assistants: Sequence[Assistant],
    scores: Mapping[str, float | None],
    options: JudgeOptions,
) -> Fusion:
    """One instance by all criteria: a draft for each, and one for the sample as a whole.

    ``scores`` holds each assistant's score of this instance by the assistant's name, None where it has none.
    Without ``assistants`` it is the ablation: the same question without them, their scores and the plan.

    Raises:
        ModelError: an answer could not be had.
        InputError: as `render_fusion_calls`.
    """
    calls = render_fusion_calls(task, criteria, instance, plan, assistants, scores, options)
    judged = [*criteria, Criterion(OVERALL, scale=task.scale)]
    samples = await ask_all(_fuse_once(ask, call, judged, instance, options) for call in calls)
    drafts = {
        criterion.text: combine_verdicts([verdicts[index] for verdicts in samples], criterion, instance)
        for index, criterion in enumerate(judged)
    }
    return Fusion({criterion.text: drafts[criterion.text] for criterion in criteria}, drafts[OVERALL])


async def _fuse_once(
    ask: Ask,
    call: tuple[Request, int],
    judged: Sequence[Criterion],
    instance: Instance,
    options: JudgeOptions,
) -> list[Verdict]:
    def problem_of(answer: Answer) -> tuple[str, str]:
        parsed = _read(answer.text, judged, instance)
        missing = [
            f"[{_label(index, judged)}] {score.reason}"
            for index, score in enumerate(parsed)
            if score.score is None
        ]
        return ("; ".join(missing), "Fill in every line of the form.") if missing else ("", "")

    answers = await ask_twice(ask, *call, problem_of, options.templates)
    readings = [_read(answer.text, judged, instance) for answer in answers]
    best = [
        next((one for one in reversed(entry) if one.score is not None), entry[-1])
        for entry in zip(*readings, strict=True)
    ]
    return [_verdict(score, answers) for score in best]


def _read(text: str, judged: Sequence[Criterion], instance: Instance) -> list[ParsedScore]:
    names = [render_criterion(criterion) for criterion in judged]
    scales = [(criterion.scale.low, criterion.scale.high) for criterion in judged]
    return parse_scores(text, names, scales, sample=instance.output)


def _verdict(parsed: ParsedScore, answers: Sequence[Answer]) -> Verdict:
    problem = (
        unscored_reason(unread_problem(parsed.reason, answers[-1]), answers) if parsed.score is None else ""
    )
    evaluation = ParsedEvaluation(parsed.explanation, parsed.score)
    return Verdict(evaluation, join_answers(answers), parsed.score, problem=problem)


def _label(index: int, judged: Sequence[Criterion]) -> str:
    return OVERALL if index == len(judged) - 1 else str(index + 1)


def _numbers(criteria: Sequence[Criterion]) -> dict[str, int]:
    """The number under which the prompt lists each criterion, by its text and by its name."""
    return {key: number for number, one in enumerate(criteria, 1) for key in (one.text, one.name) if key}


def _list_criteria(criteria: Sequence[Criterion]) -> str:
    lines = (
        f"[{number}] {render_criterion(criterion)} Scale: {render_scale(criterion.scale)}."
        for number, criterion in enumerate(criteria, 1)
    )
    return "\n".join(lines)


def _form(criteria: Sequence[Criterion]) -> str:
    labels = [*(str(number) for number in range(1, len(criteria) + 1)), OVERALL]
    return "\n".join(f"[{label}] Score: <number> Explanation: <one or two sentences>" for label in labels)
