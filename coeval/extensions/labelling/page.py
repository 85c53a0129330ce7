"""Set-up, Labelling: estimates for every system from few labels, and the choice of items to label."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.labelling.chances import KINDS, UNIFORM
from coeval.extensions.labelling.design import (
    Labelling,
    end_design,
    get_labelling,
    has_design,
    make_design,
)
from coeval.extensions.labelling.study_units import (
    ERRORS,
    CorrectedStudy,
    CorrectedSystem,
    CorrectSystems,
)
from coeval.stats.estimates import tell_estimate
from coeval.ui.components import charts
from coeval.ui.components.view import Node, View, el, scrolling, table, table_of
from coeval.ui.tabs import Panel, Tab, Update, need_task
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_statistic

SLOW: dict[str, Any] = {"show_progress": "minimal", "concurrency_limit": 1, "concurrency_id": "labelling"}
"""Settings for events that take seconds, which run one at a time."""

NO_TASK = "Describe a task first, under Tasks."


class CorrectedBox(Panel):
    """The box with the corrected mean of the judge for each system."""

    def build(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("div", el("h4", "Judge corrected for its errors"), el("p.note", ERRORS)))
            with gr.Row(elem_classes="actions"):
                cut = gr.Number(
                    None, label="Cut point", info="Shows the share of scores at or above it. Leave blank for the mean.",
                    elem_id="labelling-cut", min_width=160,
                )  # fmt: skip
                work = gr.Button("Correct", elem_id="labelling-correct", scale=0)
            self.shown = View(elem_id="labelling-corrected")
            with gr.Column(elem_classes="chart"):
                self.plot = gr.Plot(
                    show_label=False, container=False, elem_id="labelling-chart", visible=False
                )
        self.outputs = [self.shown, self.plot]
        self.on(work.click, self.on_correct, [cut], **SLOW)

    def on_correct(self, person: Person, slug: str, cut: float | None) -> Iterator[Update]:
        corrected: CorrectedStudy = get_statistic(
            self.context, person, need_task(slug), CorrectSystems(None if cut is None else float(cut))
        )
        drawn = [system for system in corrected.systems if system.corrected.defined]
        # a chart takes the width of its place, and a hidden place has none
        yield {self.shown: corrected_view(corrected), self.plot: gr.Plot(visible=bool(drawn))}
        if drawn:
            yield {self.shown: gr.skip(), self.plot: draw_systems(drawn, corrected)}


def corrected_view(corrected: CorrectedStudy) -> Node:
    """Show the corrected means, one row for each system and criterion."""
    if not corrected.systems:
        return el(
            "p.note", "No judge has scored this study: draft evaluations under Pre-fill, or import scores."
        )
    columns: dict[str, Callable[[CorrectedSystem], str]] = {
        "System": lambda row: row.system,
        "Criterion": lambda row: row.criterion,
        "Judge": lambda row: f"{row.judged:.2f}",
        "Corrected": lambda row: tell_estimate(row.corrected),
        "People": lambda row: tell_estimate(row.people),
        "Judged": lambda row: f"{row.n:,}",
        "Labels": lambda row: f"{row.labels:,}",
    }
    grid = scrolling("Corrected means", table_of(corrected.systems, columns))
    return el("div", grid, el("p.note", f"From {corrected.basis}."))


def draw_systems(drawn: list[CorrectedSystem], corrected: CorrectedStudy) -> Any:
    """Draw the judge's own figures and the corrected ones with their intervals."""
    rows = []
    for system in drawn:
        label = (
            system.system
            if len({each.criterion for each in drawn}) == 1
            else f"{system.system}, {system.criterion}"
        )
        low, high = system.corrected.ci
        rows += [
            {"label": label, "series": "judge", "value": system.judged, "low": np.nan, "high": np.nan, "about": ""},
            {"label": label, "series": "corrected", "value": float(system.corrected), "low": low, "high": high,
             "about": tell_estimate(system.corrected)},
        ]  # fmt: skip
    what = "mean score" if corrected.cut is None else f"share at or above {corrected.cut:g}"
    return charts.pairs(
        pd.DataFrame(rows), f"The judge's {what} and the corrected one, for each system.", title=what
    )


DESIGN_NOTE = (
    "People get instances in a random order with stored probabilities. You can stop at any label: the "
    "probabilities and the judge's scores correct all means."
)


class DesignBox(Panel):
    """The box to draw labels, with the active design and the corrected means."""

    def build(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("div", el("h4", "Labels with known probabilities"), el("p.note", DESIGN_NOTE)))
            with gr.Row(elem_classes="actions"):
                self.kind = gr.Radio(list(KINDS), value=KINDS[0], label="Draw", elem_id="labelling-kind")
                labels = gr.Number(100, precision=0, label="Instances to label", elem_id="labelling-labels")
                make = gr.Button("Draw", variant="primary", elem_id="labelling-draw", scale=0)
                end = gr.Button("End the design", elem_id="labelling-end", scale=0, min_width=160)
            self.means = View(elem_id="labelling-means")
        self.outputs = [self.kind, self.means]
        self.on(make.click, self.on_make, [self.kind, labels])
        self.on(end.click, self.on_end)

    def update(self, person: Person, slug: str) -> Update:
        labelling = get_labelling(self.context, person, slug)
        return {
            self.kind: labelling.kind if labelling.running else UNIFORM,
            self.means: means_view(labelling),
        }

    def on_make(self, person: Person, slug: str, kind: str | None, labels: float | None) -> Update:
        if labels is None:
            raise InputError("Fill in the number of instances: the field is empty.")
        make_design(self.context, person, need_task(slug), kind or "", int(labels))
        return self.update(person, slug)

    def on_end(self, person: Person, slug: str) -> Update:
        end_design(self.context, person, need_task(slug))
        return self.update(person, slug)


def means_view(labelling: Labelling) -> Node:
    """Show the progress of the labels, and the means and differences from them."""
    if not labelling.kind:
        return el("p.note", "No design yet: each person sees the instances in a separate order.")
    state = "in force" if labelling.running else "ended"
    lines = [
        f"{labelling.kind}: {labelling.labelled:,} of {labelling.planned:,} planned instances are labelled ({state})."
    ]
    if labelling.out_of_order:
        lines.append(
            f"{labelling.out_of_order:,} labels do not count yet: an instance before them has no label."
        )
    rows = [[row.criterion, row.what, tell_estimate(row.value)] for row in labelling.rows]
    grid = table(["Criterion", "Of", "Value"], rows)
    shown = scrolling("Means with known probabilities", grid)
    return el("div", *(el("p", line) for line in lines), shown)


class LabellingTab(Tab):
    """The tab of Set-up with corrected judges and labelling designs."""

    title, id = "Labelling", "labelling"
    purpose = "Estimates the systems' means from few human labels, and chooses the items to label."

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether the study draws its items with a design."""
        return bool(slug) and has_design(context, person, slug)

    def build(self) -> None:
        self.told = View(elem_id="labelling-told")
        self.design = DesignBox(self.context, self.task)
        CorrectedBox(self.context, self.task)
        self.outputs = [self.told, *self.design.outputs]

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.told: el("p.note", NO_TASK)}
        return {self.told: None, **self.design.update(person, slug)}
