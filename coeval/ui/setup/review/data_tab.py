"""Set-up, Data: the instances of a task with what is drafted and judged of them, searched and filtered."""

from __future__ import annotations

import gradio as gr
import pandas as pd

from coeval.domain import InstanceState, Only, Person, Remark
from coeval.study.scrutiny import browsing
from coeval.study.scrutiny.browsing import MOST, InstanceView, Judged
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, View, el, image_view, table, text_view
from coeval.ui.panel import QUICK, Tab, Update, need_task
from coeval.ui.setup.review.review_views import clock, number
from coeval.ui.study_app.scrutiny.step_links import step_link

ALL_SYSTEMS = ""
EVERY = [("all systems", ALL_SYSTEMS)]
HEAD = (
    "Instance",
    "System",
    "Document",
    "Input",
    "Output",
    "Drafts",
    "Unscored",
    "People",
    "Apart",
    "Flags",
    "Notes",
)


class DataTab(Tab):
    """A list of instances, and everything there is of the one that is looked at."""

    title, id = "Data", "data"

    def build(self) -> None:
        with gr.Row(elem_classes="card"):
            self.search = gr.Textbox(
                label="Search",
                placeholder="words of the id, the input or the output",
                max_length=200,
                elem_id="data-search",
            )
            self.system = gr.Dropdown(
                [("all systems", ALL_SYSTEMS)], value=ALL_SYSTEMS, label="System", elem_id="data-system"
            )
            self.only = gr.Dropdown(list(Only), value=str(Only.ALL), label="Show", elem_id="data-only")
        self.count = View(elem_id="data-count")
        self.rows = gr.Dataframe(
            headers=list(HEAD), interactive=False, wrap=False, max_height=420, show_label=False, elem_id="data-rows",
            column_widths=["90px", "90px", "90px", "210px", "210px", *["88px"] * 6],
        )  # fmt: skip
        self.instance = gr.Dropdown([], label="Look at", elem_id="data-instance")
        self.view = View(elem_id="data-view")
        self.outputs = [self.system, self.count, self.rows, self.instance, self.view]
        chosen = [self.search, self.system, self.only]
        listed = [self.count, self.rows, self.instance, self.view]
        for event in (self.search.submit, self.system.input, self.only.input):
            self.on(event, self.on_filter, chosen, listed)
        self.on(self.instance.input, self.on_look, [self.instance], self.view)
        # the row that was clicked says which; the menu is for who has no mouse
        self.picked = gr.State("")
        self.rows.select(_picked_row, None, self.picked, **QUICK)
        self.on(self.picked.change, self.on_pick, [self.picked], [self.instance, self.view])

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.count: el("p.note", "Describe a task first, under Tasks."), self.view: None}
        systems = browsing.list_systems(self.context, person, slug)
        choices = [*EVERY, *((name, name) for name in systems)]
        return {
            self.system: gr.Dropdown(choices, value=ALL_SYSTEMS),
            **self._listed(browsing.list_instances(self.context, person, slug)),
        }

    def on_filter(
        self, person: Person, slug: str, search: str | None, system: str | None, only: str | None
    ) -> Update:
        return self._listed(
            browsing.list_instances(
                self.context, person, need_task(slug), search=search or "", system=system or "",
                only=Only(only or Only.ALL),
            )
        )  # fmt: skip

    def on_look(self, person: Person, slug: str, instance: str | None) -> list[Node]:
        if not instance:
            return []
        return instance_view(slug, browsing.view_instance(self.context, person, need_task(slug), instance))

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
                [state.external_id for state in states], value=None, visible=bool(states)
            ),
            self.view: None,
        }


def _picked_row(chosen: gr.EventData) -> str:
    """The instance of the row that was clicked, wherever sorting has put it; "" where a program names none."""
    row = (chosen._data or {}).get("row_value")
    return str(row[0]) if isinstance(row, list) and row else ""


def _row(state: InstanceState) -> list[str | int]:
    return [
        state.external_id,
        state.system,
        state.document,
        " ".join(state.input.split()),
        " ".join(state.output.split()),
        state.n_drafts,
        state.n_unscored,
        state.n_people,
        "" if state.apart is None else number(state.apart),
        state.n_flagged,
        state.n_comments,
    ]


def _count_view(n: int) -> Node:
    if not n:
        return el(
            "div.card.empty", el("p", "No instance is like that. Change the search, or import instances.")
        )
    more = f" The first {MOST:,} are listed: search for the others." if n == MOST else ""
    return el(
        "p.note",
        f"{plural(n, 'instance')}.{more} A click on a row opens it, a click on a heading sorts them.",
    )


def instance_view(slug: str, seen: InstanceView) -> list[Node]:
    """The texts of an instance, its drafts beside everybody's scores, and what was said of it."""
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
            el("h4", f"Instance {instance.external_id}"),
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
        *(number(latest[name].score) if name in latest else "" for name in people),
    ]


def _draft_cell(judged: Judged) -> Node:
    draft = judged.draft
    if draft is None:
        return el("span.note", "not drafted yet")
    lines = el("details", el("summary", "its lines"), el("ul", *(el("li", row.text) for row in draft.rows)))
    raw = el("details", el("summary", "the model's answer"), el("pre", draft.raw)) if draft.raw else None
    if draft.score is None:
        return el("div", el("strong", "unscored"), el("p.note", draft.reason), raw)
    return el("div", el("strong", number(draft.score)), lines, raw)


def _said(remark: Remark) -> str:
    marks = [word for word, is_so in (("flagged", remark.flagged), ("skipped", remark.skipped)) if is_so]
    words = f": {remark.comment}" if remark.comment else ""
    return f"{remark.person}, {clock(remark.at)} UTC{' · ' if marks else ''}{', '.join(marks)}{words}"
