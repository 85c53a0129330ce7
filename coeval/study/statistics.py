"""Submissions to statistics: one read, then pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from coeval.domain import Person, Task
from coeval.stats.frames import StudyFrames
from coeval.store import Database, criteria, reports
from coeval.study.access import TEAM, Context, require_task, use_case


@use_case(TEAM)
def get_frames(context: Context, person: Person, slug: str) -> StudyFrames:
    """See a task's scores, actions and drafts, as the statistics take them."""
    with context.store.read() as db:
        task = require_task(db, slug)
        return _frames(db, task)


def _frames(db: Database, task: Task) -> StudyFrames:
    current = criteria.get_criteria_set(db, task.id)
    set_id = current.id if current else 0
    members = current.criteria if current else ()
    return StudyFrames(
        task=task.slug,
        criteria=[criterion.text for criterion in members],
        scales={criterion.text: (criterion.scale.low, criterion.scale.high) for criterion in members},
        instances=_frame(reports.read(db, reports.INSTANCES, task=task.id)),
        scores=_scores(reports.read(db, reports.SCORES, task=task.id, criteria_set=set_id)),
        actions=_frame(reports.read(db, reports.ACTIONS, task=task.id, criteria_set=set_id)),
        drafts=_drafts(reports.read(db, reports.DRAFTS, task=task.id, criteria_set=set_id)),
    )


def _frame(result: reports.Result) -> pd.DataFrame:
    return pd.DataFrame.from_records(list(result), columns=list(result.columns))


def _scores(result: reports.Result) -> pd.DataFrame:
    scores = _frame(result)
    opened = pd.to_datetime(scores["opened_at"], format="ISO8601", utc=True)
    submitted = pd.to_datetime(scores["submitted_at"], format="ISO8601", utc=True)
    for name in ("score", "draft_score", "shown_score", "active_ms"):
        scores[name] = scores[name].astype(float)
    return scores.assign(
        sown=False,
        wall_seconds=(submitted - opened).dt.total_seconds(),
        active_seconds=scores["active_ms"] / 1000,
    ).drop(columns=["active_ms"])


def _drafts(result: reports.Result) -> pd.DataFrame:
    drafts = _frame(result)
    spread: Callable[[Any], float] = lambda text: _spread(json.loads(text))  # noqa: E731
    drafts["score"] = drafts["score"].astype(float)
    drafts["shown"] = drafts["shown"].astype(bool)
    return drafts.assign(spread=drafts["samples_json"].map(spread)).drop(columns=["samples_json"])


def _spread(samples: list[float]) -> float:
    """Standard deviation over a draft's samples (n - 1); NaN under two samples."""
    return float(np.std(samples, ddof=1)) if len(samples) > 1 else float("nan")
