"""The Prolific tab's boxes: the draft form, the review of submissions, and the reports of both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import gradio as gr

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.prolific.publication import (
    ACTIONS,
    CODES,
    Draft,
    draft_study,
    publish_study,
    top_up,
)
from coeval.extensions.prolific.queries import UNSETTLED, Asked
from coeval.extensions.prolific.requests_log import Report, say_money
from coeval.extensions.prolific.submissions import Category, Entry, Live, Verdict, get_live, review
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.tabs import Form, Panel, need_task

NO_STUDY = "There is no study on Prolific for this task yet: create a draft below."
HEAD = [
    "Who", "Submission", "At Prolific", "Code", "Minutes there", "Finished here", "Suggestion", "Why",
]  # fmt: skip
SHOWN = 200
"""The number of requests on the page, newest first; the CSV file has all."""


def live_view(live: Live) -> Node:
    """Show the task's studies on Prolific, and each submission with the person's work in CoEval."""
    if not live.studies:
        return el("div.card", el("h4", "At Prolific"), el("p.note", NO_STUDY))
    studies = [
        f"{study.name} · {study.id}: {study.status.lower()}, {study.places_taken or 0} of "
        f"{study.total_available_places} places taken, {say_money(round(study.reward), study.currency)} a person"
        for study in live.studies
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
        row.advice.evidence if row else "this person did not arrive through the study's link",
    ]  # fmt: skip


def list_choices(live: Live) -> list[tuple[str, str]]:
    """Return the submissions as choices: pairs of a label and the id."""
    return [
        (f"{entry.name} · {entry.remote.id} ({entry.remote.status.lower()})", entry.remote.id)
        for entry in live.entries
    ]


def report_view(report: Report) -> Node:
    """Show the finished or planned actions, with the confirmation text to type."""
    rows = [
        [
            line.what,
            f"{'✕ ' * line.failed}{line.words}",
            say_money(line.amount) if line.amount and not line.failed else "",
        ]
        for line in report.lines
    ]
    total = f"In all {say_money(report.total, report.currency)}." if report.total else ""
    left = f"{plural(report.failed, 'line')} skipped or failed." if report.failed else ""
    dry = "Dry run: nothing was sent." if report.dry else ""
    confirm = f"To confirm, type: {report.confirm}" if report.confirm else ""
    return el(
        f"div.card.{'error' if report.failed and not report.dry else 'done'}",
        el("h4", report.title),
        el("p", " ".join(part for part in (dry, total, left) if part)),
        el("p", el("strong", confirm)) if confirm else None,
        el("div.scroll", table(["About", "Action", "Amount"], rows, cls="grid.compact")),
        role="status",
    )


def record_view(slug: str, asked: Sequence[Asked]) -> Node:
    """Show the requests to Prolific, newest first."""
    rows = [
        [
            str(request.id), request.asked_at[:16].replace("T", " "), request.asked_by, str(request.kind),
            ", ".join(filter(None, (item.who for item in request.items[:5]))) + "…" * (len(request.items) > 5) or "–",
            say_money(request.amount, request.currency) if request.amount else "–", str(request.outcome),
            request.answer or request.note,
        ]
        for request in reversed(asked[-SHOWN:])
    ]  # fmt: skip
    open_ = sum(request.outcome in UNSETTLED for request in asked)
    head = ["Request", "When (UTC)", "By", "What", "About", "Amount", "Outcome", "Words"]
    csv = f"../s/{slug}/prolific.csv"
    return el(
        "div.card",
        el("h4", "Requests to Prolific"),
        el("p.note", f"{plural(open_, 'request')} without an answer: look up their results.")
        if open_
        else None,
        el("div.scroll", table(head, rows, cls="grid.compact")) if rows else el("p.note", "Nothing yet."),
        el("p", el("a.button", "Record as CSV", href=csv, download="")),
    )


DRY = "Dry run: only show what would be sent"
ACTION_WORDS = {
    "review": "wait for your review",
    "approve": "approve and pay at once",
    "return": "ask to return",
}


def dry_box(name: str) -> gr.Checkbox:
    """Return the checkbox of an action's dry run, which is ticked at first."""
    return gr.Checkbox(value=True, label=DRY, elem_id=f"prolific-{name}-dry")


def confirm_box(name: str) -> gr.Textbox:
    return gr.Textbox(
        label="Confirmation text",
        info="The dry run shows it.",
        max_length=200,
        elem_id=f"prolific-{name}-confirm",
    )


class DraftBox(Panel):
    """The box to create and publish a draft from the task and its plan, and to add places."""

    def build(self) -> None:
        self.notes: list[View] = []
        with gr.Accordion("Create a draft", open=False, elem_id="prolific-draft-box"):
            self._build_draft()
        with gr.Accordion("Publish", open=False, elem_id="prolific-publish-box"):
            confirm, dry = confirm_box("publish"), dry_box("publish")
            button = gr.Button("Publish the newest draft", elem_id="prolific-publish", scale=0, min_width=260)
            note = self._note("publish")
            self.on(button.click, self.on_publish, [confirm, dry], note)
        with gr.Accordion("More places", open=False, elem_id="prolific-places-box"):
            more = gr.Number(
                label="Places to add", info="0 adds as many as needed.", value=0, precision=0, minimum=0,
                elem_id="prolific-more",
            )  # fmt: skip
            confirm, dry = confirm_box("places"), dry_box("places")
            button = gr.Button("Add places", elem_id="prolific-places", scale=0, min_width=200)
            note = self._note("places")
            self.on(button.click, self.on_places, [more, confirm, dry], note)

    def _note(self, name: str) -> View:
        """Show the result of an action; the tab then reads Prolific again."""
        self.notes.append(View(elem_id=f"prolific-{name}-note"))
        return self.notes[-1]

    def _build_draft(self) -> None:
        form = self.form = Form()
        with gr.Row(equal_height=False):
            with gr.Column():
                form["title"] = gr.Textbox(
                    label="Title",
                    info="Leave blank for the task’s name.",
                    max_length=255,
                    elem_id="prolific-title",
                )
                form["description"] = gr.Textbox(
                    label="Description for participants",
                    info="Leave blank for the task’s.",
                    lines=3,
                    elem_id="prolific-description",
                )
            with gr.Column():
                for field, label, info, name, digits in (
                    ("places", "Places", "0 uses as many as the plan needs.", "count", 0),
                    ("minutes", "Estimated minutes", "0 uses the measured time.", "minutes", None),
                ):
                    form[field] = gr.Number(
                        label=label,
                        info=info,
                        value=0,
                        minimum=0,
                        precision=digits,
                        elem_id=f"prolific-{name}",
                    )
            with gr.Column():
                for name in CODES:
                    form[name] = _action(name)
        dry = dry_box("draft")
        button = gr.Button(
            "Create the draft", variant="primary", elem_id="prolific-draft", scale=0, min_width=200
        )
        note = self._note("draft")
        self.on(button.click, self.on_draft, [dry, *form.inputs], note)

    def on_draft(self, person: Person, slug: str, dry: bool, *values: Any) -> Node:
        fields = self.form.read(values)
        actions = {name: fields.pop(name) for name in CODES}
        draft = Draft(**fields, actions=actions)
        return report_view(draft_study(self.context, person, need_task(slug), draft, dry_run=bool(dry)))

    def on_publish(self, person: Person, slug: str, confirm: str | None, dry: bool) -> Node:
        return report_view(
            publish_study(self.context, person, need_task(slug), confirm=confirm or "", dry_run=bool(dry))
        )

    def on_places(
        self, person: Person, slug: str, more: float | None, confirm: str | None, dry: bool
    ) -> Node:
        report = top_up(
            self.context,
            person,
            need_task(slug),
            more=int(more or 0),
            confirm=confirm or "",
            dry_run=bool(dry),
        )
        return report_view(report)


def _action(name: str) -> gr.Dropdown:
    _, _, usual, who = CODES[name]
    choices = [(ACTION_WORDS[action], action) for action in ACTIONS]
    return gr.Dropdown(choices, value=usual, label=f"Who {who}", elem_id=f"prolific-action-{name}")


VERDICTS: tuple[tuple[Verdict, str, Literal["primary", "secondary"]], ...] = (
    (Verdict.REJECT, "Reject", "secondary"),
    (Verdict.RETURN, "Ask to return", "secondary"),
    (Verdict.APPROVE, "Approve", "primary"),
)


class ReviewBox(Panel):
    """The box with actions on selected submissions: a button for each action, and a report below."""

    def build(self) -> None:
        self.notes: list[View] = []
        with gr.Row(elem_classes="actions"):
            self.who = gr.Dropdown([], label="Submissions", multiselect=True, elem_id="prolific-who")
            suggested = gr.Button(
                "Select all suggested for approval", scale=0, min_width=280, elem_id="prolific-all"
            )
        self.on(suggested.click, self.on_suggested, outputs=self.who)
        with gr.Accordion("Approve, ask to return, reject", open=False, elem_id="prolific-review-box"):
            self._build_verdicts()

    def _note(self, name: str) -> View:
        """Show the result of an action; the tab then reads Prolific again."""
        self.notes.append(View(elem_id=f"prolific-{name}-note"))
        return self.notes[-1]

    def _build_verdicts(self) -> None:
        with gr.Row():
            category = gr.Dropdown(
                [(category.replace("_", " ").lower(), category.value) for category in Category], value=None,
                label="Rejection reason", elem_id="prolific-category",
            )  # fmt: skip
            message = gr.Textbox(
                label="Message for a return or rejection", lines=3, max_length=2000,
                elem_id="prolific-reason", info=("Prolific requires at least 100 characters for a "
                                                "rejection."),
            )  # fmt: skip
        dry = dry_box("review")
        with gr.Row(elem_classes="actions"):
            buttons = {
                verdict: gr.Button(label, elem_id=f"prolific-{verdict}", scale=0, min_width=160, variant=look)
                for verdict, label, look in VERDICTS
            }
        note = self._note("review")
        for verdict, button in buttons.items():
            self.on(button.click, partial(self.on_review, verdict), [self.who, category, message, dry], note)

    def choices(self, live: Live) -> gr.Dropdown:
        return gr.Dropdown(list_choices(live))

    def on_suggested(self, person: Person, slug: str) -> gr.Dropdown:
        live = get_live(self.context, person, need_task(slug))
        chosen = [entry.remote.id for entry in live.entries if entry.suggested]
        if not chosen:
            raise InputError("No submission is suggested for approval: read the column “Why”.")
        return gr.Dropdown(list_choices(live), value=chosen)

    def on_review(
        self, verdict: Verdict, person: Person, slug: str, who: list[str] | None, category: str | None,
        message: str | None, dry: bool,
    ) -> Node:  # fmt: skip
        report = review(
            self.context, person, need_task(slug), verdict, who or (), category=category or "",
            message=message or "", dry_run=bool(dry),
        )  # fmt: skip
        return report_view(report)
