"""Set-up, Data: a list of the instances with their drafts and scores, with search and filters."""

from __future__ import annotations

import gradio as gr
import pandas as pd

from coeval.datasets.text import shorten
from coeval.domain import InstanceState, Only, Person, Remark
from coeval.ui.app.scrutiny_tab import step_link
from coeval.ui.components.number_words import clock, name_instance, plural, score_words
from coeval.ui.components.view import Node, View, el, image_view, table, text_view
from coeval.ui.tabs import QUICK, Tab, Update, need_task
from coeval.usecases.scrutiny import review
from coeval.usecases.scrutiny.review import MOST_INSTANCES, InstanceView, Judged

ALL_SYSTEMS = ""
EVERY_SYSTEM = [("all systems", ALL_SYSTEMS)]
HEAD = (
    "No.",
    "Instance",
    "System",
    "Input",
    "Output",
    "Drafts",
    "Unscored",
    "People",
    "Spread",
    "Flags",
    "Notes",
)
CELL = 48
"""Number of characters of a text in the list."""


TO_THE_INSTANCE = "() => document.getElementById('data-instance')?.scrollIntoView({ block: 'start' })"


class DataTab(Tab):
    """The tab with a list of instances, and all data of the selected one."""

    title, id = "Data", "data"

    def build(self) -> None:
        with gr.Row(elem_classes="card"):
            self.search = gr.Textbox(
                label="Search",
                placeholder="ids, inputs and outputs",
                max_length=200,
                elem_id="data-search",
            )
            self.system = gr.Dropdown(
                [("all systems", ALL_SYSTEMS)], value=ALL_SYSTEMS, label="System", elem_id="data-system"
            )
            self.only = gr.Dropdown(list(Only), value=str(Only.ALL), label="Show", elem_id="data-only")
        self.count = View(elem_id="data-count")
        self.rows = gr.Dataframe(
            headers=list(HEAD), interactive=False, wrap=False, max_height=420, show_label=False, buttons=[],
            elem_id="data-rows", column_widths=["48px", "110px", "100px", "122px", "122px", *["84px"] * 6],
        )  # fmt: skip
        self.instance = gr.Dropdown([], label="Open instance", elem_id="data-instance")
        self.view = View(elem_id="data-view")
        self.outputs = [self.system, self.count, self.rows, self.instance, self.view]
        chosen = [self.search, self.system, self.only]
        listed = [self.count, self.rows, self.instance, self.view]
        for event in (self.search.submit, self.system.input, self.only.input):
            self.on(event, self.on_filter, chosen, listed)
        self.on(self.instance.input, self.on_look, [self.instance], self.view)
        # a click on a row chooses its instance; the menu is for people without a mouse
        self.picked = gr.State("")
        self.rows.select(_picked_row, None, self.picked, **QUICK)
        picked = self.on(self.picked.change, self.on_pick, [self.picked], [self.instance, self.view])
        picked.then(None, js=TO_THE_INSTANCE)  # it is below the list

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.count: el("p.note", "Describe a task first, under Tasks."), self.view: None}
        systems = review.list_systems(self.context, person, slug)
        choices = [*EVERY_SYSTEM, *((name, name) for name in systems)]
        return {
            self.system: gr.Dropdown(choices, value=ALL_SYSTEMS),
            **self._listed(review.list_instances(self.context, person, slug)),
        }

    def on_filter(
        self, person: Person, slug: str, search: str | None, system: str | None, only: str | None
    ) -> Update:
        return self._listed(
            review.list_instances(
                self.context, person, need_task(slug), search=search or "", system=system or "",
                only=Only(only or Only.ALL),
            )
        )  # fmt: skip

    def on_look(self, person: Person, slug: str, instance: str | None) -> list[Node]:
        if not instance:
            return []
        return instance_view(slug, review.view_instance(self.context, person, need_task(slug), instance))

    def on_pick(self, person: Person, slug: str, instance: str | None) -> Update:
        if not instance:
            return {self.view: gr.skip()}
        return {self.instance: instance, self.view: self.on_look(person, slug, instance)}

    def _listed(self, states: list[InstanceState]) -> Update:
        frame = pd.DataFrame([_row(state) for state in states], columns=list(HEAD))
        return {
            self.count: _count_view(len(states)),
            self.rows: gr.Dataframe(value=frame, visible=bool(states)),
            self.instance: gr.Dropdown(
                [(name_instance(state.position, state.external_id), state.external_id) for state in states],
                value=None,
                visible=bool(states),
            ),
            self.view: None,
        }


def _picked_row(chosen: gr.EventData) -> str:
    """Return the instance of the clicked row, regardless of sorting; "" if a program names none."""
    row = (chosen._data or {}).get("row_value")
    return str(row[1]) if isinstance(row, list) and len(row) > 1 else ""


def _row(state: InstanceState) -> list[str | int]:
    return [
        state.position,
        state.external_id,
        state.system,
        shorten(" ".join(state.input.split()), CELL),
        shorten(" ".join(state.output.split()), CELL),
        state.n_drafts,
        state.n_unscored,
        state.n_people,
        "" if state.apart is None else score_words(state.apart),
        state.n_flagged,
        state.n_comments,
    ]


def _count_view(n: int) -> Node:
    if not n:
        return el("div.card.empty", el("p", "No instance matches. Change the search, or import instances."))
    more = f" The first {MOST_INSTANCES:,} are listed: search for the others." if n == MOST_INSTANCES else ""
    return el(
        "p.note",
        f"{plural(n, 'instance')}.{more} Choose a row to open it, or a heading to sort by.",
    )


def instance_view(slug: str, seen: InstanceView) -> list[Node]:
    """Return the texts of an instance, its drafts beside everybody's scores, and the remarks on it."""
    instance = seen.instance
    people = list(dict.fromkeys(name for judged in seen.judged for name, _ in judged.latest))
    rows = [_judged_row(judged, people) for judged in seen.judged]
    said = [el("li", _said(remark)) for remark in seen.remarks]
    scores = (
        table(["Criterion", "Draft", *people], rows) if rows else el("p.note", "There are no criteria yet.")
    )
    return [
        el(
            "div.card",
            el("h4", f"Instance {name_instance(instance.position, instance.external_id)}"),
            el(
                "p",
                el("a", "Open in Scrutiny", href=step_link(slug, instance.external_id), target="_blank"),
            ),
            scores,
            el("div", el("p", "Flags and comments:"), el("ul", *said)) if said else None,
            *map(image_view, seen.images),
            el("h4", "Input"),
            text_view(instance.input),
            el("h4", "Output"),
            text_view(instance.output),
        )
    ]


def _judged_row(judged: Judged, people: list[str]) -> list[Node | None]:
    latest = dict(judged.latest)
    return [
        judged.criterion.name or judged.criterion.text,
        _draft_cell(judged),
        *(score_words(latest[name].score) if name in latest else "" for name in people),
    ]


def _draft_cell(judged: Judged) -> Node:
    draft = judged.draft
    if draft is None:
        return el("span.note", "not drafted yet")
    lines = el("details", el("summary", "its lines"), el("ul", *(el("li", row.text) for row in draft.rows)))
    raw = el("details", el("summary", "the model's answer"), el("pre", draft.raw)) if draft.raw else None
    if draft.score is None:
        return el("div", el("strong", "unscored"), el("p.note", draft.reason), raw)
    rung = el("p.note", f"obtained by: {draft.rung}") if draft.rung else None
    return el("div", el("strong", score_words(draft.score)), rung, lines, raw)


def _said(remark: Remark) -> str:
    marks = [word for word, is_so in (("flagged", remark.flagged), ("skipped", remark.skipped)) if is_so]
    words = f": {remark.comment}" if remark.comment else ""
    return f"{remark.person}, {clock(remark.at)} UTC{' · ' if marks else ''}{', '.join(marks)}{words}"
