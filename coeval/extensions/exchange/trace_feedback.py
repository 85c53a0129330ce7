"""People's scores as feedback on traces: the arguments of one call of LangSmith, Langfuse or MLflow for each score."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from coeval.clock import now
from coeval.domain import Person, RowKind
from coeval.extensions.exchange.label_studio_tasks import standing_lines
from coeval.extensions.exchange.records import ANNOTATOR, MARK
from coeval.store.queries import exports
from coeval.store.queries.reports import read
from coeval.usecases.access import Context, require_task
from coeval.usecases.export import Files, OutFormat, read_standing_study


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
