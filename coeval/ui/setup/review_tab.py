"""Set-up, Review: messages, people's work side by side, decisions on disputes, and habits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from coeval.datasets.text import shorten
from coeval.domain import (
    Action,
    Arm,
    Dispute,
    EvaluationRow,
    Person,
    RowKind,
    Scale,
    ScrutinyRow,
    Submission,
)
from coeval.errors import InputError
from coeval.rules.evaluation_rows import name_rows
from coeval.rules.screening import Habits
from coeval.ui.components.number_words import clock, name_instance, score_words
from coeval.ui.components.view import Node, View, el, table, text_view
from coeval.ui.setup.messages_box import MessagesBox
from coeval.ui.tabs import PageGroup, Tab, Update, more_settings, tell_done
from coeval.usecases import criteria_rounds
from coeval.usecases.scrutiny import design, review
from coeval.usecases.scrutiny.review import PeopleComparison, PersonsWork

# The Review tab: people's work side by side, disagreements, and working habits.

ARMS = {
    Arm.ASSISTED: "saw the draft",
    Arm.BLIND: "blind",
    Arm.FIRST: "scored first, then saw the draft",
    Arm.EVIDENCE: "saw the evidence marked",
    Arm.REASONS: "saw evidence and reasons",
    Arm.UNDRAFTED: "no draft to read",
}
SAID = {Action.APPROVE: "kept", Action.DELETE: "deleted", Action.REVISE: "revised", Action.ADD: "added"}


def comparison_view(comparison: PeopleComparison) -> Node:
    """Return one evaluation: the draft in the first column, and one column per person who saved it."""
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
        el("h4", f"Instance {name_instance(comparison.instance.position, comparison.instance.external_id)}"),
        el("p", comparison.criterion.text),
        nobody,
        table(head, rows),
        *_texts(comparison),
        _decided(comparison),
    )


def _texts(comparison: PeopleComparison) -> list[Node]:
    return [
        el("h4", comparison.task.input_field),
        text_view(comparison.instance.input),
        el("h4", comparison.task.output_field),
        text_view(comparison.instance.output),
    ]


def _score_row(comparison: PeopleComparison) -> list[Node | None]:
    drafted = score_words(comparison.draft.score if comparison.draft else None)
    return ["Score", drafted, *(_score_cell(column) for column in comparison.columns)]


def _score_cell(column: PersonsWork) -> Node:
    latest = column.latest
    before = f"{score_words(column.first.score)} before the draft" if column.first else None
    planted = (
        f"shown {score_words(latest.shown_score)} as a planted error" if latest.planted == "score" else None
    )
    return el(
        "div",
        el("strong", score_words(latest.score)),
        el("p.note", " · ".join(part for part in (ARMS[column.arm], before, planted) if part)),
    )


def _line_rows(comparison: PeopleComparison) -> list[list[Node | None]]:
    """Return one row per drafted line, the shown run's first; lines of other drafts have rows of their own."""
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


def _line_cell(column: PersonsWork, line: int) -> Node:
    done = next((row for row in column.latest.rows if row.draft_row == line), None)
    if done is None:
        return el("span.note", "not shown")
    return el("div", *_words(done))


def _words(row: ScrutinyRow) -> list[Node]:
    said: list[Node] = [el("span", SAID[row.action])]
    said += [el("p", row.text)] if row.text else []
    return said + ([el("p.note", row.reason)] if row.reason else [])


def _added_rows(comparison: PeopleComparison) -> list[list[Node | None]]:
    added = [_added(column.latest) for column in comparison.columns]
    return [["Added", "", *(el("div", *lines) for lines in added)]] if any(added) else []


def _added(latest: Submission) -> list[Node]:
    return [
        el("p", f"{row.kind}: {row.text}")
        for row in latest.rows
        if row.draft_row is None and row.kind is not RowKind.SCORE
    ]


def _history_row(comparison: PeopleComparison) -> list[Node | None]:
    return ["Saved", "", *(_history_cell(column) for column in comparison.columns)]


def _history_cell(column: PersonsWork) -> Node:
    latest = column.latest
    earlier = [
        el(
            "p.note",
            f"{clock(save.submitted_at)} · version {save.revision} · score {score_words(save.score)}",
        )
        for save in column.revisions[:-1]
    ]
    seconds = f" · {latest.active_ms / 1000:.0f} s" if latest.active_ms is not None else ""
    said = el("span.note", f"{clock(latest.submitted_at)}{seconds}{' · in bulk' if latest.bulk else ''}")
    many = f"{len(earlier)} earlier version{'' if len(earlier) == 1 else 's'}"
    return el("div", said, el("details", el("summary", many), *earlier) if earlier else None)


def _decided(comparison: PeopleComparison) -> Node:
    if comparison.decided is None:
        return el("p.note", "Not decided. Adjudicated values are kept separate from annotators' scores.")
    by = f" by {comparison.decided.decided_by}, {clock(comparison.decided.decided_at)} UTC"
    note = f": {comparison.decided.note}" if comparison.decided.note else ""
    return el("p", el("strong", f"Decided: {comparison.decided.score:g}"), f"{by}{note}")


def habits_view(habits: Sequence[Habits], planted_share: float) -> Node:
    """Return everybody's working habits, and the questions that they raise."""
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
        "Longest unchanged run",
        "In bulk",
        "Planted errors caught",
    ]
    none_planted = (
        "No planted errors: set a share of them in the study design to see who still reads the drafts."
    )
    return el(
        "div.card",
        el("h4", "Do people still read the drafts?"),
        table(head, rows) if rows else el("p.note", "Nobody has saved anything yet."),
        *questions,
        el("p.note", "Hints, not verdicts: it is right to keep every line of a good draft."),
        None if planted_share else el("p.note", none_planted),
    )


class ReviewTab(Tab):
    """The tab with messages, people's work side by side, decisions on disputes, and habits."""

    title, id = "Review", "review"
    group = PageGroup.PEOPLE

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, min_width=300):
                self._build_choice()
                self._build_decision()
            with gr.Column(scale=5):
                self.comparison = View(elem_id="review-comparison")
        with more_settings("review-work", "How people work"):
            self.habits = View(elem_id="review-habits")
        self.inbox = MessagesBox(self.context, self.task)
        self.followed_with = [self.inbox.state]
        self.revision = gr.State(0)
        chosen = [self.instance, self.criterion]
        self.outputs = [
            self.differing, *chosen, self.comparison, self.decide_box, self.score, self.note, self.revision,
            self.habits, *self.inbox.outputs,
        ]  # fmt: skip
        self.on(self.differing.input, self.on_pick, [self.differing])
        self.on(self.compare.click, self.on_compare, chosen)
        self.on(self.decide.click, self.on_decide, [*chosen, self.score, self.note, self.revision])

    def _build_choice(self) -> None:
        with gr.Column(elem_classes="card"):
            self.differing = gr.Radio(
                [], label="Largest disagreements", elem_id="review-differing", elem_classes="listed"
            )
            with more_settings("review-other", "Another instance"):
                self.instance = gr.Textbox(label="Instance id", max_length=500, elem_id="review-instance")
                self.criterion = gr.Dropdown([], label="Criterion", elem_id="review-criterion")
                self.compare = gr.Button("Compare", elem_id="review-compare")

    def _build_decision(self) -> None:
        with gr.Column(elem_classes="card", visible=False, elem_id="review-decide-box") as self.decide_box:
            View(el("h4", "Adjudicate"))
            self.score = gr.Radio([], label="Score", elem_id="review-score")
            self.note = gr.Textbox(label="Why", lines=2, max_length=10_000, elem_id="review-note")
            self.decide = gr.Button("Record the decision", variant="primary", elem_id="review-decide")

    def load(self, person: Person, slug: str) -> Update:
        if not slug or criteria_rounds.get_criteria_set(self.context, person, slug) is None:
            return self._nothing_yet() | self.inbox.load(person, slug)
        return self._next(person, slug) | self.inbox.load(person, slug)

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        return self.inbox.follow(person, slug, *values)

    def on_pick(self, person: Person, slug: str, picked: str | None) -> Update:
        criterion, _, external_id = (picked or "").partition(":")
        return self._look(person, slug, external_id, criterion)

    def on_compare(self, person: Person, slug: str, instance: str | None, criterion: str | None) -> Update:
        return self._look(person, slug, instance or "", criterion)

    def on_decide(
        self,
        person: Person,
        slug: str,
        instance: str | None,
        criterion: str | None,
        score: str | None,
        note: str | None,
        revision: int,
    ) -> Update:
        if score is None:
            raise InputError("No score is chosen: choose the final score, then record it.")
        external_id = (instance or "").strip()
        review.adjudicate(
            self.context, person, slug, external_id, _id(criterion),
            score=float(score), note=note or "", revision=revision,
        )  # fmt: skip
        tell_done("Decision recorded")
        return self._next(person, slug, f"{_id(criterion)}:{external_id}")

    def _nothing_yet(self) -> Update:
        empty = el(
            "div.card.empty",
            el("h3", "Nothing to review yet"),
            el("p", "Finalise the criteria first."),
        )
        return {self.comparison: empty, self.habits: None}

    def _next(self, person: Person, slug: str, after: str = "") -> Update:
        """Return the tab with the largest disagreement that nobody has decided yet, below ``after`` if there is one."""
        disputes = review.list_disputes(self.context, person, slug)
        keys = [_key(dispute) for dispute in disputes]
        start = keys.index(after) + 1 if after in keys else 0
        later = [*disputes[start:], *disputes[:start]]
        open_ = next((dispute for dispute in later if dispute.decided is None), None)
        if open_ is None:
            return self._lists(person, slug, disputes, None) | self._compared(None)
        looked = self._look(person, slug, open_.external_id, str(open_.criterion))
        return looked | self._lists(person, slug, disputes, open_)

    def _lists(
        self, person: Person, slug: str, disputes: Sequence[Dispute], chosen: Dispute | None
    ) -> Update:
        """Return everything on the tab except the comparison."""
        context = self.context
        current = criteria_rounds.get_criteria_set(context, person, slug)
        habits = review.list_habits(context, person, slug)
        share = design.get_design(context, person, slug).design.planted_share
        names = (
            [(f"{n}. {c.name or c.text}"[:80], str(c.id)) for n, c in enumerate(current.criteria, 1)]
            if current
            else []
        )
        return {
            self.differing: gr.Radio(
                [(_label(dispute), _key(dispute)) for dispute in disputes],
                value=_key(chosen) if chosen else None,
                label=f"Largest disagreements · {sum(d.decided is None for d in disputes)} of {len(disputes)} open",
                info="" if disputes else "None yet: two people must score the same item.",
            ),
            self.criterion: gr.Dropdown(
                names, value=str(chosen.criterion) if chosen else names[0][1] if names else None
            ),
            self.habits: habits_view(habits, share),
        }

    def _look(self, person: Person, slug: str, external_id: str, criterion: str | None) -> Update:
        external_id = external_id.strip()
        comparison = review.compare_people(self.context, person, slug, external_id, _id(criterion))
        chosen = {self.instance: external_id, self.criterion: gr.Dropdown(value=criterion)}
        return chosen | self._compared(comparison)

    def _compared(self, comparison: PeopleComparison | None) -> Update:
        if comparison is None:
            return {self.comparison: None, self.decide_box: gr.Column(visible=False), self.revision: 0}
        decided = comparison.decided
        return {
            self.comparison: comparison_view(comparison),
            self.decide_box: gr.Column(visible=True),
            self.score: gr.Radio(
                _steps(comparison.criterion.scale), value=f"{decided.score:g}" if decided else None
            ),
            self.note: decided.note if decided else "",
            self.revision: decided.revision if decided else 0,
        }


def _steps(scale: Scale) -> list[str]:
    return [str(step) for step in scale.steps]


def _key(dispute: Dispute) -> str:
    return f"{dispute.criterion}:{dispute.external_id}"


def _label(dispute: Dispute) -> str:
    decided = f" · decided {dispute.decided:g}" if dispute.decided is not None else ""
    scores = f"{dispute.low:g} to {dispute.high:g}"
    name = name_instance(dispute.position, dispute.external_id)
    if dispute.document not in ("", dispute.external_id):
        name += f" · {shorten(dispute.document, 30)}"
    return f"{name} · {scores} · {shorten(dispute.text, 50)} · {dispute.n} people{decided}"


def _id(text: str | None) -> int:
    """Return the id that a menu gave.

    Raises:
        InputError: no valid entry is chosen.
    """
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 15:
        raise InputError("No criterion is chosen: choose one, then compare.")
    return int(text)
