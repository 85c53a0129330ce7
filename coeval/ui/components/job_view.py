"""The jobs of a task: state, progress, speed, answers in no form, and how they ended."""

from __future__ import annotations

from coeval.domain import Job
from coeval.ui.components.view import Node, el, table

MOST = 8
"""The largest number of jobs on a page."""


def jobs_view(listed: list[Job], title: str) -> Node:
    """Return a table of the newest jobs."""
    rows: list[list[Node | None]] = [
        [_started(job), str(job.state), _bar(job), _unread(job), job.message] for job in listed[:MOST]
    ]
    heads = ["Started (UTC)", "State", "Done", "In no form", "Speed, or how it ended"]
    return el("div.card", el("h4", title), el("div.scroll", table(heads, rows)))


def _started(job: Job) -> str:
    return job.created_at[:16].replace("T", " ")


def _bar(job: Job) -> Node:
    share = (job.done + job.failed) / job.total if job.total else 1.0
    failed = f", {job.failed:,} failed" if job.failed else ""
    return el("div", f"{job.done:,} of {job.total:,}{failed}", el("div.track", el("i", width=share)))


def _unread(job: Job) -> str:
    """Return the number of answers in no form, and their share."""
    results = max(1, job.done + job.failed)
    return f"{job.unread:,} ({job.unread / results:.0%})" if job.unread else "0"
