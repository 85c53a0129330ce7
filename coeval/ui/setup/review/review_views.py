"""What the Review tab shows: people side by side, where they differ, how they work, who changed what."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain import Action, Arm, Change, EvaluationRow, RowKind, ScrutinyRow, Submission
from coeval.rules.evaluation_rows import name_rows
from coeval.rules.habits import Habits
from coeval.study.scrutiny.review import Column, Comparison
from coeval.ui.components.view import Node, el, table, text_view

ARMS = {
    Arm.ASSISTED: "saw the draft",
    Arm.BLIND: "blind",
    Arm.FIRST: "scored first, then saw the draft",
    Arm.UNDRAFTED: "before there was a draft",
}
SAID = {Action.APPROVE: "kept", Action.DELETE: "deleted", Action.REVISE: "revised", Action.ADD: "added"}


def clock(at: str) -> str:
    """A stored time as people read it, UTC to the minute."""
    return at[:16].replace("T", " ")


def number(score: float | None) -> str:
    return "–" if score is None else f"{score:g}"


def comparison_view(comparison: Comparison) -> Node:
    """One evaluation: the draft in the first column, a column for everybody who saved it."""
    head = ["", "Drafted", *(column.person for column in comparison.columns)]
    rows = [
        _score_row(comparison),
        *_line_rows(comparison),
        *_added_rows(comparison),
        _history_row(comparison),
    ]
    nobody = el("p.note", "Nobody has saved this one yet.") if not comparison.columns else None
    return el(
        "div.card",
        el("h4", f"Instance {comparison.instance.external_id}"),
        el("p", comparison.criterion.text),
        nobody,
        table(head, rows),
        el("details", el("summary", "Input and output"), *_texts(comparison)),
        _decided(comparison),
    )


def _texts(comparison: Comparison) -> list[Node]:
    return [
        el("h4", "Input"),
        text_view(comparison.instance.input),
        el("h4", "Output"),
        text_view(comparison.instance.output),
    ]


def _score_row(comparison: Comparison) -> list[Node | None]:
    drafted = number(comparison.draft.score if comparison.draft else None)
    return ["Score", drafted, *(_score_cell(column) for column in comparison.columns)]


def _score_cell(column: Column) -> Node:
    latest = column.latest
    before = f"{number(column.first.score)} before the draft" if column.first else None
    planted = f"shown {number(latest.shown_score)} on purpose" if latest.planted == "score" else None
    return el(
        "div",
        el("strong", number(latest.score)),
        el("p.note", " · ".join(part for part in (ARMS[latest.outcome], before, planted) if part)),
    )


def _line_rows(comparison: Comparison) -> list[list[Node | None]]:
    """A row per drafted line, the shown run's first; a line of another draft has a row of its own."""
    drafts = [comparison.draft, *(column.shown for column in comparison.columns)]
    lines: dict[int, tuple[str, EvaluationRow]] = {}
    for draft in drafts:
        for name, row in zip(name_rows(draft.rows), draft.rows, strict=True) if draft else ():
            if row.kind is not RowKind.SCORE:
                lines.setdefault(row.id, (name, row))
    return [
        [name, row.text, *(_line_cell(column, row.id) for column in comparison.columns)]
        for name, row in lines.values()
    ]


def _line_cell(column: Column, line: int) -> Node:
    done = next((row for row in column.latest.rows if row.draft_row == line), None)
    if done is None:
        return el("span.note", "not shown")
    swapped = column.planted is not None and column.planted.draft_row == line
    shown = next((row.text for row in column.shown.rows if row.id == line), "") if column.shown else ""
    return el("div", *_words(done), el("p.note", f"shown instead on purpose: {shown}") if swapped else None)


def _words(row: ScrutinyRow) -> list[Node]:
    said: list[Node] = [el("span", SAID[row.action])]
    said += [el("p", row.text)] if row.text else []
    return said + ([el("p.note", row.reason)] if row.reason else [])


def _added_rows(comparison: Comparison) -> list[list[Node | None]]:
    added = [_added(column.latest) for column in comparison.columns]
    return [["Added", "", *(el("div", *lines) for lines in added)]] if any(added) else []


def _added(latest: Submission) -> list[Node]:
    return [
        el("p", f"{row.kind}: {row.text}")
        for row in latest.rows
        if row.draft_row is None and row.kind is not RowKind.SCORE
    ]


def _history_row(comparison: Comparison) -> list[Node | None]:
    return ["Saved", "", *(_history_cell(column) for column in comparison.columns)]


def _history_cell(column: Column) -> Node:
    latest = column.latest
    earlier = [
        el("p.note", f"{clock(save.submitted_at)} · version {save.revision} · score {number(save.score)}")
        for save in column.revisions[:-1]
    ]
    seconds = f" · {latest.active_ms / 1000:.0f} s" if latest.active_ms is not None else ""
    said = el("span.note", f"{clock(latest.submitted_at)}{seconds}{' · in bulk' if latest.bulk else ''}")
    many = f"{len(earlier)} earlier version{'' if len(earlier) == 1 else 's'}"
    return el("div", said, el("details", el("summary", many), *earlier) if earlier else None)


def _decided(comparison: Comparison) -> Node:
    if comparison.decided is None:
        return el("p.note", "Not decided. Adjudicated values are kept separate from annotators' scores.")
    by = f" by {comparison.decided.decided_by}, {clock(comparison.decided.decided_at)} UTC"
    note = f": {comparison.decided.note}" if comparison.decided.note else ""
    return el("p", el("strong", f"Decided: {comparison.decided.score:g}"), f"{by}{note}")


def habits_view(habits: Sequence[Habits], planted_share: float) -> Node:
    """Everybody's figures, and the questions they raise."""
    rows = [
        [
            habit.person,
            f"{habit.n:,}",
            "–" if habit.median_seconds is None else f"{habit.median_seconds:.0f} s (n {habit.n_timed:,})",
            f"{habit.kept_all:.0%}",
            f"{habit.longest_streak:,}",
            f"{habit.bulk:.0%}",
            "–" if habit.caught is None else f"{habit.caught:.0%} of {habit.n_planted}",
        ]
        for habit in habits
    ]
    questions = [el("p", question) for habit in habits for question in habit.questions]
    head = [
        "Who",
        "With a draft",
        "Median time",
        "All kept",
        "Longest run of it",
        "In bulk",
        "Wrong ones caught",
    ]
    none_planted = (
        "No planted errors: set a share of them in the study design to see who still reads the drafts."
    )
    return el(
        "div.card",
        el("h4", "Do people still read the drafts?"),
        table(head, rows) if rows else el("p.note", "Nobody has saved anything yet."),
        *questions,
        el("p.note", "Hints, not verdicts: keeping every line of a good draft is right."),
        None if planted_share else el("p.note", none_planted),
    )


def changes_view(changes: Sequence[Change]) -> Node:
    """The latest saves, newest first."""
    rows = [
        [
            clock(change.at),
            change.person,
            change.instance,
            change.criterion,
            number(change.score)
            if change.revision == 1
            else f"{number(change.before)} → {number(change.score)}",
            str(change.revision),
            str(change.n_changed),
        ]
        for change in changes
    ]
    head = ["When (UTC)", "Who", "Instance", "Criterion", "Score", "Version", "Lines changed"]
    body = table(head, rows) if rows else el("p.note", "Nothing was saved yet.")
    return el("div.card", el("h4", "Who saved what"), body)
