"""Export a task's rubrics as long tables for statistics, and as lines in HealthBench's format for import."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from coeval.domain import Action, Instance, Person
from coeval.domain.tasks import read_chat
from coeval.extensions.rubrics.files import KEPT
from coeval.extensions.rubrics.queries import Criterion, Submission
from coeval.extensions.rubrics.reports import RubricsStudy, read_rubrics_study
from coeval.extensions.rubrics.reviews import own_score
from coeval.extensions.rubrics.scoring import Rubric, instance_score
from coeval.safe_csv import safe
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
def export_rubrics(context: Context, person: Person, slug: str, label: str = "") -> RubricsStudy:
    """Export a task's rubrics with the judgments of people and the judge."""
    return read_rubrics_study(context, slug, label)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield _line(head)
    for row in rows:
        yield _line(["" if cell is None else safe(cell) for cell in row])


def _line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


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
        one = study.instances[number]
        for criterion in criteria:
            rubric = criterion.rubric
            yield (
                *_names(one), one.input, one.output, rubric.text, _number(rubric.points), rubric.axis,
                "|".join(rubric.tags), _origin(criterion),
            )  # fmt: skip


def list_judgment_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return one row per criterion and rater: the judge first, then people."""
    for number, criteria in study.criteria.items():
        names = _names(study.instances[number])
        for criterion in criteria:
            judged = study.judgments.get(criterion.id)
            if judged and study.run:
                rubric = criterion.rubric
                yield (
                    *names, "judge", study.run.label, "", "", rubric.text, _number(rubric.points), rubric.axis,
                    _origin(criterion), "", "", "", "", _number(judged.value), " | ".join(judged.evidence),
                    judged.explanation, judged.reason, study.run.created_at,
                )  # fmt: skip
    known = study.by_id
    for submission in study.submissions:
        names = _names(study.instances[submission.instance])
        for line in submission.lines:
            found = known.get(line.criterion or 0)
            rubric = found.rubric if found else Rubric(line.text, line.points or 0.0, line.axis)
            yield (
                *names, "person", study.names[submission.annotator], submission.arm, int(line.judgment is not None),
                rubric.text, _number(rubric.points), rubric.axis, _origin(found), line.action,
                line.text if found else "", _number(line.points) if found else "", line.reason, _number(line.value),
                line.evidence, "", "", submission.submitted_at,
            )  # fmt: skip


def list_score_rows(study: RubricsStudy) -> Iterator[Sequence[Any]]:
    """Return each instance's score from the judge and from each person, not clipped."""
    mine: dict[int, list[Submission]] = {}
    for submission in study.submissions:
        mine.setdefault(submission.instance, []).append(submission)
    for judged in study.list_judged():
        names, criteria = _names(study.instances[judged.instance]), study.criteria[judged.instance]
        if study.run:
            score = instance_score(judged.judged)
            yield *names, "judge", study.run.label, score, len(criteria)
        for submission in mine.get(judged.instance, ()):
            kept = sum(line.action != Action.DELETE for line in submission.lines)
            who = study.names[submission.annotator]
            yield *names, "person", who, own_score(criteria, submission), kept


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
    for criterion in criteria:
        lines = [line for one in submissions for line in one.lines if line.criterion == criterion.id]
        if sum(line.action == Action.DELETE for line in lines) > half:
            continue
        revised = Counter((line.text, line.points) for line in lines if line.action == Action.REVISE)
        (text, points), count = revised.most_common(1)[0] if revised else (("", None), 0)
        rubric = criterion.rubric
        if count > half:
            rubric = Rubric(text, rubric.points if points is None else points, rubric.axis, rubric.tags)
        settled.append(rubric)
    added = [line for one in submissions for line in one.lines if line.criterion is None]
    new = dict.fromkeys(Rubric(line.text, line.points or 0.0, line.axis) for line in added)
    return [*settled, *(one for one in new if one not in settled)]


def build_example(study: RubricsStudy, number: int, submissions: Sequence[Submission]) -> dict[str, Any]:
    """Return an instance as a line of a HealthBench file, with both scores added."""
    one, criteria = study.instances[number], study.criteria[number]
    turns = read_chat(one.input)
    prompt = [{"role": turn.role, "content": turn.content} for turn in turns]
    example: dict[str, Any] = {
        "prompt_id": one.document,
        "completion_id": one.external_id,
        "prompt": prompt or [{"role": "user", "content": one.input}],
        "completion": one.output,
        "rubrics": [rubric.to_healthbench() for rubric in settle_criteria(criteria, submissions)],
    }
    if one.system:
        example["system"] = one.system
    example |= {key: json.loads(one.context[key]) for key in KEPT if key in one.context}
    if study.run:
        values = [study.judgments.get(criterion.id) for criterion in criteria]
        example["judge"] = {
            "label": study.run.label,
            "score": instance_score(
                [(c.rubric.points, v.value if v else None) for c, v in zip(criteria, values, strict=True)]
            ),
            "values": [_number(value.value) if value else None for value in values],
        }
    people = [
        {"name": study.names[each.annotator], "score": own_score(criteria, each)} for each in submissions
    ]
    return example | ({"people": people} if people else {})


def _build_healthbench(context: Context, person: Person, slug: str) -> Files:
    study = export_rubrics(context, person, slug)
    mine: dict[int, list[Submission]] = {}
    for submission in study.submissions:
        mine.setdefault(submission.instance, []).append(submission)
    lines = (
        json.dumps(build_example(study, number, mine.get(number, ())), ensure_ascii=False) + "\n"
        for number in study.criteria
    )
    yield "healthbench.jsonl", lines


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
