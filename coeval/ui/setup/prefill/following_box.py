"""Set-up, Pre-fill: how closely a fused run follows each of its assistants."""

from __future__ import annotations

import math
from collections.abc import Sequence

import gradio as gr

from coeval.domain import Person, Run
from coeval.study.drafting.assistants import correlate_run
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Panel, Update, need_task

HEADS = ("Criterion", "Assistant", "n", "Pearson", "Spearman", "Kendall tau-b", "")


class FollowingBox(Panel):
    """A fused run that follows one assistant almost exactly adds nothing to it."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", visible=False) as self.box:
            self.run = gr.Dropdown([], value=None, label="How closely does a fused run follow its assistants?",
                                   elem_id="followed-run")  # fmt: skip
            self.table = View(elem_id="followed")
        self.outputs = [self.box, self.run]
        self.on(self.run.input, self.on_choose, [self.run], self.table)

    def on_choose(self, person: Person, slug: str, label: str | None) -> Node | None:
        if not label:
            return None
        rows = correlate_run(self.context, person, need_task(slug), label)
        cells = [[_show(row[name]) for name in row] for row in rows]
        note = (
            "“overall” is the model's own rating of the whole. A correlation near 1 says that the run repeats the "
            "assistant."
        )
        return el("div", table(list(HEADS), [list(line) for line in cells]), el("p.note", note))

    def update(self, runs: Sequence[tuple[Run, int, int]]) -> Update:
        fused = [run.label for run, _, _ in runs if run.params.get("assistants")]
        return {self.box: gr.Column(visible=bool(fused)), self.run: gr.Dropdown(fused, value=None)}


def _show(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.2f}"
    return str(value)
