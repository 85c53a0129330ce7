"""Set-up, Pre-fill: several criteria in one question, tried beside one by one before it is chosen."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.study.drafting.before.comparing import COLUMNS, PILOT, Comparison
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Panel

WAYS = [("1: one by one", 1), *((str(number), number) for number in range(2, 11)), ("all together", 0)]
TOLD = (
    "Several criteria in one question send each sample once, which costs a fraction. It can move the scores: try both "
    "ways on a pilot first. What a pilot drafts is not asked again by a full run of the same settings."
)


class SeveralBox(Panel):
    """How many criteria one question covers, and the size of a pilot."""

    def build(self) -> None:
        with gr.Accordion("Several criteria in one question", open=False, elem_id="several"):
            View(el("p", TOLD))
            with gr.Row():
                self.number = gr.Dropdown(
                    WAYS, value=1, label="Criteria in one question", elem_id="criteria-per-call"
                )
                self.pilot = gr.Number(
                    PILOT, precision=0, minimum=1, label="Instances of the pilot", elem_id="pilot-size"
                )
            with gr.Row(elem_classes="actions"):
                self.start = gr.Button(
                    "Try both on the pilot",
                    interactive=self.context.settings.has_model,
                    elem_id="pilot-start",
                    scale=0,
                )
                self.compare = gr.Button("Compare", elem_id="pilot-compare", scale=0)
        self.inputs: list[Any] = [self.number]


def comparison_view(found: Comparison) -> Node:
    """The scores of both ways, and what each cost."""
    headings = [name.capitalize() for name in COLUMNS]
    return el(
        "div.card",
        el("h4", "One by one beside together"),
        table(headings, [list(row) for row in found.rows()]),
        el("p", f"{found.instances:,} instances. {found.costs}."),
        el(
            "p",
            "Shift is the mean score together less the mean one by one; alpha is the agreement of the two ways "
            "(Krippendorff, interval). In brackets 95% intervals over documents.",
        ),
    )
