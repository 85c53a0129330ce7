"""The Prolific tab: submissions are chosen, then approved, returned, rejected, given a bonus or written to."""

from __future__ import annotations

from functools import partial
from typing import Literal

import gradio as gr

from coeval.domain import Person
from coeval.errors import InputError
from coeval.study.crowd.prolific.bonuses import Bonus, Rule, pay_bonus
from coeval.study.crowd.prolific.messaging import message_workers
from coeval.study.crowd.prolific.reviewing import Live, Verdict, get_live, review
from coeval.study.crowd.prolific.rules import Category, read_money
from coeval.ui.components.view import Node, View
from coeval.ui.panel import Panel, need_task
from coeval.ui.setup.prolific.draft_box import confirm_box, dry_box
from coeval.ui.setup.prolific.prolific_views import list_choices, report_view

RULES = [
    ("For the time taken, by the plan’s pay per hour, less what was paid", Rule.TIME.value),
    ("The same for everybody", Rule.SAME.value),
    ("For every instance finished", Rule.EACH.value),
]

VERDICTS: tuple[tuple[Verdict, str, Literal["primary", "secondary"]], ...] = (
    (Verdict.REJECT, "Reject", "secondary"),
    (Verdict.RETURN, "Ask to return", "secondary"),
    (Verdict.APPROVE, "Approve", "primary"),
)


class ReviewBox(Panel):
    """What is done about the submissions chosen; a button each, and a report below it."""

    def build(self) -> None:
        self.notes: list[View] = []
        with gr.Row(elem_classes="actions"):
            self.who = gr.Dropdown(
                [], label="Submissions: one or more", multiselect=True, elem_id="prolific-who"
            )
            suggested = gr.Button(
                "Choose all suggested for approval", scale=0, min_width=280, elem_id="prolific-all"
            )
        self.on(suggested.click, self.on_suggested, outputs=self.who)
        with gr.Accordion("Approve, ask to return, reject", open=False, elem_id="prolific-review-box"):
            self._build_verdicts()
        with gr.Accordion("Pay a bonus", open=False, elem_id="prolific-bonus-box"):
            self._build_bonus()
        with gr.Accordion("Send a message", open=False, elem_id="prolific-message-box"):
            text = gr.Textbox(label="Message", lines=3, max_length=5000, elem_id="prolific-text")
            dry = dry_box("message")
            button = gr.Button("Send it to those chosen", elem_id="prolific-message", scale=0, min_width=240)
            note = self._note("message")
            self.on(button.click, self.on_message, [self.who, text, dry], note)

    def _note(self, name: str) -> View:
        """Where an action says what it did; the tab reads Prolific again after it."""
        self.notes.append(View(elem_id=f"prolific-{name}-note"))
        return self.notes[-1]

    def _build_verdicts(self) -> None:
        with gr.Row():
            category = gr.Dropdown(
                [(one.replace("_", " ").lower(), one.value) for one in Category], value=None,
                label="Reason, for a rejection", elem_id="prolific-category",
            )  # fmt: skip
            message = gr.Textbox(
                label="Message to the person, for a return or a rejection", lines=3, max_length=2000,
                elem_id="prolific-reason", info="Prolific wants at least 100 characters for a rejection.",
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

    def _build_bonus(self) -> None:
        with gr.Row():
            rule = gr.Radio(RULES, value=Rule.TIME.value, label="Rule", elem_id="prolific-rule")
            with gr.Column():
                name = gr.Textbox(
                    label="What it is for", max_length=40, elem_id="prolific-bonus-name",
                    info="Nobody gets two bonuses of the same name.",
                )  # fmt: skip
                amount = gr.Textbox(
                    label="Amount, such as 1.50 (not for the time)", max_length=20, elem_id="prolific-amount"
                )
        confirm, dry = confirm_box("bonus"), dry_box("bonus")
        button = gr.Button(
            "Pay those chosen (nobody chosen: all approved)", elem_id="prolific-bonus", scale=0, min_width=360
        )
        note = self._note("bonus")
        self.on(button.click, self.on_bonus, [self.who, rule, name, amount, confirm, dry], note)

    def choices(self, live: Live) -> gr.Dropdown:
        return gr.Dropdown(list_choices(live))

    def on_suggested(self, person: Person, slug: str) -> gr.Dropdown:
        live = get_live(self.context, person, need_task(slug))
        chosen = [entry.remote.id for entry in live.entries if entry.suggested]
        if not chosen:
            raise InputError(
                "No submission that awaits review is suggested for approval: read the column “Why”."
            )
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

    def on_bonus(
        self, person: Person, slug: str, who: list[str] | None, rule: str, name: str | None, amount: str | None,
        confirm: str | None, dry: bool,
    ) -> Node:  # fmt: skip
        bonus = Bonus(Rule(rule), name or "", read_money(amount or "", "amount"))
        report = pay_bonus(
            self.context, person, need_task(slug), bonus, who or (), confirm=confirm or "", dry_run=bool(dry)
        )
        return report_view(report)

    def on_message(
        self, person: Person, slug: str, who: list[str] | None, text: str | None, dry: bool
    ) -> Node:
        return report_view(
            message_workers(self.context, person, need_task(slug), who or (), text or "", dry_run=bool(dry))
        )
