"""Set-up, Facets: people, judges, criteria and systems on one ruler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr
import pandas as pd

from coeval.domain import Person
from coeval.extensions.facets.ruler import Element, FitRuler, Ruler
from coeval.stats.estimates import tell_estimate
from coeval.ui.components import charts
from coeval.ui.components.view import Node, View, el, scrolling, table
from coeval.ui.tabs import Tab, Update, need_task
from coeval.usecases.reports.statistics import get_statistic

SLOW: dict[str, Any] = {"show_progress": "minimal", "concurrency_limit": 1, "concurrency_id": "facets"}
"""Settings for events that take seconds, which run one at a time."""

NOTE = (
    "A many-facet Rasch model puts people, judges, criteria and systems on one scale. Positive severity: harsher than "
    "the mean person. A fair mean is the mean score that average raters would give on all criteria."
)


def ruler_view(ruler: Ruler) -> list[Node]:
    """Show the ruler's tables: systems, raters and criteria, then the tests."""
    systems = [
        [
            system.name,
            tell_estimate(system.fair),
            f"{system.observed:.2f}",
            tell_estimate(system.measure),
            f"{system.n:,}",
        ]
        for system in sorted(ruler.systems, key=lambda each: -float(each.fair))
    ]
    reliable = ", ".join(f"{name} {separation.reliability:.2f}" for name, separation in ruler.separation)
    about = (
        f"{ruler.model} model, {ruler.n:,} scores, {ruler.documents:,} documents; {ruler.basis}. "
        f"Separation reliability: {reliable}."
    )
    shown: list[Node] = [
        _grid("Systems", ["System", "Fair mean", "Mean as scored", "Measure (logits)", "Scores"], systems),
        _grid("Severity of raters", ["Rater", "Severity (logits)", "Infit", "Outfit", "Scores", "Part"],
              [[*_element(rater), f"{rater.group}"] for rater in ruler.raters]),
        _grid("Difficulty of criteria", ["Criterion", "Difficulty (logits)", "Infit", "Outfit", "Scores"],
              [_element(criterion) for criterion in ruler.criteria]),
    ]  # fmt: skip
    if ruler.drift:
        head = ["Person", "Severity, last minus first score (logits)", "p (Holm)"]
        rows = [[effect.name, tell_estimate(effect.value), f"{effect.p_holm:.3f}"] for effect in ruler.drift]
        shown.append(_grid("Drift of people", head, rows))
    notes = [el("p.note", text) for text in (about, *ruler.notes)]
    return [*shown, *notes]


def _grid(title: str, head: Sequence[str], rows: Sequence[Sequence[Node | None]]) -> Node:
    return el("section", el("h4", title), scrolling(title, table(head, rows)))


def _element(element: Element) -> list[Node | None]:
    return [
        element.name,
        tell_estimate(element.measure),
        f"{element.infit:.2f}",
        f"{element.outfit:.2f}",
        f"{element.n:,}",
    ]


def draw_ruler(ruler: Ruler) -> Any:
    """Draw raters and criteria at their places on the ruler, with intervals."""
    rows = [
        {"label": element.name, "series": element.kind, "value": float(element.measure), "low": element.measure.ci_low,
         "high": element.measure.ci_high, "about": tell_estimate(element.measure)}
        for element in sorted((*ruler.raters, *ruler.criteria), key=lambda each: -float(each.measure))
    ]  # fmt: skip
    words = "Severity of people and judges and difficulty of criteria, in logits; the mean person is at 0."
    return charts.pairs(pd.DataFrame(rows), words, title="logits")


class FacetsTab(Tab):
    """The tab of Set-up with the ruler, which is fitted on request."""

    title, id = "Facets", "facets"
    purpose = "Puts people, judges, criteria and systems on one scale, to see who is harsh and what is hard."

    def build(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("div", el("h4", "People and judges on one scale"), el("p.note", NOTE)))
            with gr.Row(elem_classes="actions"):
                work = gr.Button("Measure", variant="primary", elem_id="facets-measure", scale=0)
            self.shown = View(elem_id="facets-ruler")
            with gr.Column(elem_classes="chart"):
                self.plot = gr.Plot(show_label=False, container=False, elem_id="facets-chart", visible=False)
        self.on(work.click, self.on_measure, outputs=[self.shown, self.plot], **SLOW)

    def on_measure(self, person: Person, slug: str) -> Iterator[Update]:
        ruler: Ruler = get_statistic(self.context, person, need_task(slug), FitRuler())
        if ruler.reason:
            yield {self.shown: el("p.note", ruler.reason), self.plot: gr.Plot(visible=False)}
            return
        # a chart takes the width of its place, and a hidden place has none
        yield {self.shown: ruler_view(ruler), self.plot: gr.Plot(visible=True)}
        yield {self.shown: gr.skip(), self.plot: draw_ruler(ruler)}

    def load(self, person: Person, slug: str) -> Update:
        return {}
