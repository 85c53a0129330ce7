"""Export a task's rubrics as long tables for statistics, and as lines in HealthBench's format for import."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from coeval.domain import Action, Instance, Person
from coeval.domain.tasks import read_chat
from coeval.extensions.rubrics.files import KEPT
from coeval.extensions.rubrics.queries import Criterion, Submission
from coeval.extensions.rubrics.reports import RubricsStudy, read_rubrics_study
from coeval.extensions.rubrics.reviews import kept_rubrics, own_score
from coeval.extensions.rubrics.scoring import Rubric, instance_score
from coeval.safe_csv import rows_to_csv
from coeval.usecases.access import TEAM, Context, use_case
from coeval.usecases.export import Files, OutFormat

CRITERIA_HEAD = (
    "instance", "document", "system", "input", "output", "criterion", "points", "axis", "tags", "origin",
)  # fmt: skip
JUDGMENTS_HEAD = (
    "instance", "document", "system", "by", "who", "arm", "draft_shown", "criterion", "points", "axis", "origin",
    "action", "new_text", "new_points", "reason", "value", "evidence", "explanation", "unscored", "saved_at",
)  # fmt: skip
SCORES_HEAD = ("instance", "document", "system", "by", "who", "score", "criteria")


@use_case(TEAM)
def export_rubrics(context: Context, person: Person, slug: str) -> RubricsStudy:
    """Export a task's rubrics with the judgments of people and the judge."""
    return read_rubrics_study(context, slug)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return (rows_to_csv([row]) for row in chain([head], rows))


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and float(value).is_integer() else value


def _names(instance: Instance) -> tuple[str, str, str]:
    return instance.external_id, instance.document, instance.system


def _origin(criterion: Criterion | None) -> str:
    if criterion is None:
        return "person"
    return "model" if criterion.run is not None else "file"


def list_criteria_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return a row for each criterion as it was imported or drafted."""
    for number, criteria in study.criteria.items():
        instance = study.instances[number]
        for criterion in criteria:
            rubric = criterion.rubric
            yield (
                *_names(instance), instance.input, instance.output, rubric.text, _number(rubric.points), rubric.axis,
                "|".join(rubric.tags), _origin(criterion),
            )  # fmt: skip


def list_judgment_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return one row per criterion and rater: the judge first, then people."""
    for criterion in study.by_id.values():
        names = _names(study.instances[criterion.instance])
        judgment = study.judgments.get(criterion.id)
        if judgment and study.run:
            rubric = criterion.rubric
            yield (
                *names, "judge", study.run.label, "", "", rubric.text, _number(rubric.points), rubric.axis,
                _origin(criterion), "", "", "", "", _number(judgment.value), " | ".join(judgment.evidence),
                judgment.explanation, judgment.reason, study.run.created_at,
            )  # fmt: skip
    by_id = study.by_id
    for submission in study.submissions:
        names = _names(study.instances[submission.instance])
        for line in submission.lines:
            stored = by_id.get(line.criterion or 0)
            rubric = stored.rubric if stored else Rubric(line.text, line.points or 0.0, line.axis)
            yield (
                *names, "person", study.names[submission.annotator], submission.arm, int(line.judgment is not None),
                rubric.text, _number(rubric.points), rubric.axis, _origin(stored), line.action,
                line.text if stored else "", _number(line.points) if stored else "", line.reason, _number(line.value),
                line.evidence, "", "", submission.submitted_at,
            )  # fmt: skip


def list_score_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return each instance's score from the judge and from each person, not clipped."""
    by_instance = study.by_instance
    for judged in study.list_judged():
        names, criteria = _names(study.instances[judged.instance]), study.criteria[judged.instance]
        if study.run:
            yield *names, "judge", study.run.label, instance_score(judged.judged), len(criteria)
        for submission in by_instance[judged.instance]:
            kept = kept_rubrics(criteria, submission)
            yield *names, "person", study.names[submission.annotator], instance_score(kept), len(kept)


def _build_long(context: Context, person: Person, slug: str) -> Files:
    study = export_rubrics(context, person, slug)
    if not study.criteria:
        return
    yield "criteria.csv", _csv(CRITERIA_HEAD, list_criteria_rows(study))
    yield "judgments.csv", _csv(JUDGMENTS_HEAD, list_judgment_rows(study))
    yield "scores.csv", _csv(SCORES_HEAD, list_score_rows(study))


def settle_criteria(criteria: Sequence[Criterion], submissions: Sequence[Submission]) -> list[Rubric]:
    """Return the criteria of an instance as a majority of people left them, then the criteria that people added.

    A criterion is removed if more than half of the people deleted it. It is reworded if more than half of them gave
    the same wording. Each added criterion appears once.
    """
    settled: list[Rubric] = []
    half = len(submissions) / 2
    saved = [line for submission in submissions for line in submission.lines]
    for criterion in criteria:
        lines = [line for line in saved if line.criterion == criterion.id]
        if sum(line.action == Action.DELETE for line in lines) > half:
            continue
        revised = Counter((line.text, line.points) for line in lines if line.action == Action.REVISE)
        rubric = criterion.rubric
        for (text, points), count in revised.most_common(1):
            if count > half:
                rubric = replace(rubric, text=text, points=rubric.points if points is None else points)
        settled.append(rubric)
    added = [Rubric(line.text, line.points or 0.0, line.axis) for line in saved if line.criterion is None]
    return [*settled, *(rubric for rubric in dict.fromkeys(added) if rubric not in settled)]


def build_example(study: RubricsStudy, number: int, submissions: Sequence[Submission]) -> dict[str, Any]:
    """Return an instance as a line of a HealthBench file, with both scores added."""
    instance, criteria = study.instances[number], study.criteria[number]
    turns = [{"role": turn.role, "content": turn.content} for turn in read_chat(instance.input)]
    example: dict[str, Any] = {
        "prompt_id": instance.document,
        "completion_id": instance.external_id,
        "prompt": turns or [{"role": "user", "content": instance.input}],
        "completion": instance.output,
        "rubrics": [rubric.to_healthbench() for rubric in settle_criteria(criteria, submissions)],
    }
    if instance.system:
        example["system"] = instance.system
    example |= {key: json.loads(instance.context[key]) for key in KEPT if key in instance.context}
    if study.run:
        values = [study.get_value(criterion) for criterion in criteria]
        points = [criterion.rubric.points for criterion in criteria]
        example["judge"] = {
            "label": study.run.label,
            "score": instance_score(zip(points, values, strict=True)),
            "values": list(map(_number, values)),
        }
    people = [
        {"name": study.names[submission.annotator], "score": own_score(criteria, submission)}
        for submission in submissions
    ]
    return example | ({"people": people} if people else {})


def _build_healthbench(context: Context, person: Person, slug: str) -> Files:
    study = export_rubrics(context, person, slug)
    by_instance = study.by_instance
    examples = (build_example(study, number, by_instance[number]) for number in study.criteria)
    yield "healthbench.jsonl", (json.dumps(example, ensure_ascii=False) + "\n" for example in examples)


FORMATS = (
    OutFormat(
        "rubrics",
        "Criteria of single instances (CSV)",
        "Three tables: the criteria, the judgments of people and the judge, and the scores of the instances.",
        _build_long,
    ),
    OutFormat(
        "healthbench",
        "HealthBench (JSON Lines)",
        "A line for each instance with the final version of its criteria, for HealthBench’s code.",
        _build_healthbench,
    ),
)
