"""What the Prolific tab shows: how a study stands there, its submissions, what was or would be done, and the record."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain.crowd import UNSETTLED, Asked
from coeval.study.crowd.prolific.desk import Report, say_money
from coeval.study.crowd.prolific.reviewing import Entry, Live
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, el, table

NO_STUDY = "There is no study at Prolific for this task yet: create a draft below."
HEAD = [
    "Who", "Submission", "At Prolific", "Code", "Minutes there", "Finished here", "Suggestion", "Why", "Bonuses",
]  # fmt: skip
SHOWN = 200
"""Newest requests that the page lists; the CSV has all."""


def live_view(live: Live) -> Node:
    """The task's studies at Prolific, and every submission beside what its person did here."""
    if not live.studies:
        return el("div.card", el("h4", "At Prolific"), el("p.note", NO_STUDY))
    studies = [
        f"{one.name} · {one.id}: {one.status.lower()}, {one.places_taken or 0} of {one.total_available_places} places"
        f" taken, {say_money(round(one.reward), one.currency)} a person"
        for one in live.studies
    ]
    rows = [_cells(entry) for entry in live.entries]
    nobody = el("p.note", "Nobody has taken part yet.")
    return el(
        "div.card",
        el("h4", "At Prolific"),
        *(el("p", words) for words in studies),
        el("div.scroll", table(HEAD, rows)) if rows else nobody,
    )


def _cells(entry: Entry) -> list[Node | None]:
    remote, row = entry.remote, entry.row
    asked = ", asked to return" if remote.return_requested else ""
    return [
        entry.name, remote.id, f"{remote.status.lower()}{asked}", remote.code or "–",
        f"{remote.time_taken / 60:.1f}" if remote.time_taken else "–",
        str(row.participant.finished) if row else "–", row.advice.suggestion if row else "look",
        row.advice.evidence if row else "this submission never came in by the study's address",
        say_money(remote.paid) if remote.paid else "–",
    ]  # fmt: skip


def list_choices(live: Live) -> list[tuple[str, str]]:
    """The submissions as they are chosen: what is shown, and the id."""
    return [
        (f"{one.name} · {one.remote.id} ({one.remote.status.lower()})", one.remote.id) for one in live.entries
    ]


def report_view(report: Report) -> Node:
    """What was done, or would be; with what has to be typed for it to be done."""
    rows = [
        [
            line.what,
            f"{'✕ ' * line.failed}{line.words}",
            say_money(line.amount) if line.amount and not line.failed else "",
        ]
        for line in report.lines
    ]
    total = f"In all {say_money(report.total, report.currency)}." if report.total else ""
    left = f"{plural(report.failed, 'line')} left out or not done." if report.failed else ""
    dry = "Dry run: nothing was sent." if report.dry else ""
    confirm = f"To confirm, write: {report.confirm}" if report.confirm else ""
    return el(
        f"div.card.{'error' if report.failed and not report.dry else 'done'}",
        el("h4", report.title),
        el("p", " ".join(part for part in (dry, total, left) if part)),
        el("p", el("strong", confirm)) if confirm else None,
        el("div.scroll", table(["About", "What is done", "Amount"], rows, cls="grid.compact")),
        role="status",
    )


def record_view(slug: str, asked: Sequence[Asked]) -> Node:
    """What was asked of Prolific, newest first."""
    rows = [
        [
            str(one.id), one.asked_at[:16].replace("T", " "), one.asked_by, str(one.kind),
            ", ".join(filter(None, (item.who for item in one.items[:5]))) + "…" * (len(one.items) > 5) or "–",
            say_money(one.amount, one.currency) if one.amount else "–", str(one.outcome), one.answer or one.note,
        ]
        for one in reversed(asked[-SHOWN:])
    ]  # fmt: skip
    open_ = sum(one.outcome in UNSETTLED for one in asked)
    head = ["Request", "When (UTC)", "By", "What", "About", "Amount", "Outcome", "Words"]
    csv = f"../s/{slug}/prolific.csv"
    return el(
        "div.card",
        el("h4", "What was asked of Prolific"),
        el("p.note", f"{plural(open_, 'request')} without an answer: look up what came of them.")
        if open_
        else None,
        el("div.scroll", table(head, rows, cls="grid.compact")) if rows else el("p.note", "Nothing yet."),
        el("p", el("a.button", "The record as CSV", href=csv, download="")),
    )
