"""Export people's scores to other tools: Inspect, Label Studio, and the tools that keep traces."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from coeval.clock import now
from coeval.domain import Person, RowKind, Study
from coeval.errors import InputError
from coeval.extensions.exchange.inspect_logs import render_precomputed
from coeval.extensions.exchange.label_studio_tasks import render_config, render_tasks, standing_lines
from coeval.extensions.exchange.records import ANNOTATOR, MARK
from coeval.store.queries import exports
from coeval.store.queries.reports import read
from coeval.usecases.access import Context, require_task
from coeval.usecases.export import Files, OutFormat, read_standing_study


def _build_inspect(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
        units = [(row[0], row[1], float(row[3])) for row in read(db, exports.UNITS, task=require_task(db, slug).id)
                 if row[3] is not None]  # fmt: skip
    system = attrgetter("system")
    by_model = groupby(sorted(study.instances, key=system), system)
    for model, instances in by_model:
        lines = render_precomputed(list(instances), units)
        if lines:
            name = re.sub(r"[^\w.-]+", "_", model) or "all"
            text = (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            yield f"inspect_scores/{name}.jsonl", text


INSPECT = OutFormat(
    "inspect",
    "Precomputed scores for Inspect (JSON Lines)",
    "People's mean scores for Inspect's scorer precomputed_scores, one file per model.",
    _build_inspect,
)


def _build_label_studio(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
    if not study.instances:
        raise InputError(f"“{slug}” has no instances yet: import some first.")
    yield "label_studio_tasks.json", _as_list(study)
    yield "label_studio_config.xml", [render_config([criterion.scale for criterion in study.criteria])]


def _as_list(study: Study) -> Iterator[str]:
    between = "[\n"
    for task in render_tasks(study):
        yield between + json.dumps(task, ensure_ascii=False)
        between = ",\n"
    yield "\n]\n"


LABEL_STUDIO = OutFormat(
    "label-studio",
    "Label Studio project (JSON)",
    "A task for each instance and criterion, with people's work as annotations and drafts as predictions, "
    "and the labelling configuration. To restore the study, import the files again.",
    _build_label_studio,
)


# People's scores as feedback on traces: the arguments of one call of LangSmith, Langfuse or MLflow for each score.


@dataclass(frozen=True, slots=True)
class PersonScore:
    """One person's score of one trace, with the conclusion. ``annotator`` is a number in the place of the name."""

    trace: str
    criterion: str
    annotator: str
    score: float
    conclusion: str
    saved_at: str

    def name(self, task: str) -> str:
        """Return an id that stays the same, so that a tool replaces the score if it is sent again."""
        return str(
            uuid.uuid5(uuid.NAMESPACE_URL, "|".join((task, self.trace, self.criterion, self.annotator)))
        )

    def source(self, task: str) -> dict[str, str]:
        """Return where the score is from."""
        return {ANNOTATOR: self.annotator, MARK: task}


def list_scores(context: Context, slug: str) -> Iterator[PersonScore]:
    """Yield the scores that the statistics of a task count, by instance, criterion and person."""
    with context.store.read() as db:
        task = require_task(db, slug).id
        people = {row[0]: (row[1], f"annotator {number}")
                  for number, row in enumerate(read(db, exports.ANNOTATORS, task=task), 1)}  # fmt: skip
        study = read_standing_study(db, slug)
        units = list(read(db, exports.UNITS, task=task))
    drafted = {
        (imported.run.label, draft.instance, draft.criterion): draft.rows
        for imported in study.runs
        for draft in imported.drafts
    }
    work = {(each.person, each.instance, each.criterion): each for each in study.submissions}
    for instance, criterion, annotator, score in units:
        person, number = people[annotator]
        submission = work[person, instance, criterion]
        if score is not None:
            lines = standing_lines(submission, drafted.get((submission.run, instance, criterion), ()))
            conclusion = "\n".join(text for kind, text in lines if kind is RowKind.CONCLUSION)
            at = submission.submitted_at or now()
            yield PersonScore(instance, criterion, number, float(score), conclusion, at)


def _render_langsmith(score: PersonScore, task: str) -> dict[str, Any]:
    return {
        "run_id": score.trace, "trace_id": score.trace, "key": score.criterion, "score": score.score,
        "comment": score.conclusion or None, "feedback_source_type": "api", "source_info": score.source(task),
        "feedback_id": score.name(task),
    }  # fmt: skip


def _render_langfuse(score: PersonScore, task: str) -> dict[str, Any]:
    return {
        "trace_id": score.trace, "name": score.criterion, "value": score.score, "data_type": "NUMERIC",
        "comment": score.conclusion or None, "metadata": score.source(task), "score_id": score.name(task),
    }  # fmt: skip


def _render_mlflow(score: PersonScore, task: str) -> dict[str, Any]:
    return {
        "trace_id": score.trace, "assessment_name": score.criterion, "feedback": {"value": score.score},
        "source": {"source_type": "HUMAN", "source_id": score.annotator}, "rationale": score.conclusion,
        "create_time": score.saved_at, "last_update_time": score.saved_at, "metadata": {MARK: task},
    }  # fmt: skip


def _make_format(
    name: str, title: str, file: str, call: str, render: Callable[[PersonScore, str], dict[str, Any]]
) -> OutFormat:
    """Return the format of one tool: a file with a line of JSON for each score, which the tool takes with ``call``."""

    def build(context: Context, person: Person, slug: str) -> Files:
        lines = (render(score, slug) for score in list_scores(context, slug))
        yield file, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    summary = f"Each person's score and conclusion, under a number in the place of the name, for {call}."
    return OutFormat(name, title, summary, build)


FEEDBACK = (
    _make_format("langsmith", "Feedback for LangSmith (JSON Lines)", "langsmith_feedback.jsonl",
                 "client.create_feedback(**line)", _render_langsmith),
    _make_format("langfuse", "Scores for Langfuse (JSON Lines)", "langfuse_scores.jsonl",
                 "langfuse.create_score(**line)", _render_langfuse),
    _make_format("mlflow", "Assessments for MLflow (JSON Lines)", "mlflow_assessments.jsonl",
                 'mlflow.log_assessment(line["trace_id"], Assessment.from_dictionary(line))', _render_mlflow),
)  # fmt: skip
