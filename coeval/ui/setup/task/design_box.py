"""Set-up, Tasks: the design of a study, which is how its drafts are shown to people."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.errors import InputError
from coeval.rules.arms import Design, Display, Layout
from coeval.study.scrutiny.design import DesignState, get_design, set_design
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Panel, Update, need_task, tell_done


class DesignBox(Panel):
    """The design of the task that its heading names, and of no other."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="design"):
            self.heading = View(_heading(""), elem_id="design-heading")
            self.fields = _build_fields()
            with gr.Row(elem_classes="actions"):
                self.save = gr.Button("Save design", elem_id="save-design", scale=0, interactive=False)
            self.state = View(elem_id="design-state")
        self.of = gr.State("")
        self.outputs = [self.heading, *self.fields, self.save, self.state, self.of]
        self.on(self.save.click, self.on_save, [self.of, *self.fields])

    def load(self, person: Person, slug: str) -> Update:
        stands = get_design(self.context, person, slug) if slug else None
        values = _values(stands.design if stands else Design())
        return {
            self.heading: _heading(slug),
            **dict(zip(self.fields, values, strict=True)),
            self.save: gr.Button(interactive=bool(slug)),
            self.state: _state_view(stands),
            self.of: slug,
        }

    def on_save(self, person: Person, slug: str, of: str, *values: Any) -> Update:
        if need_task(slug) != of:
            raise InputError(
                f"The design on the page is that of “{of}”, and the task chosen above is “{slug}”: wait until the "
                "page shows it, then save."
            )
        set_design(self.context, person, slug, _read(*values))
        tell_done("Design saved")
        return self.load(person, slug)


def _heading(slug: str) -> Node:
    return el(
        "div",
        el("h4", f"Study design of {slug}" if slug else "Study design"),
        el(
            "p.note",
            "People given a draft lean towards it. These shares let the study measure how far: without them it "
            "cannot tell agreement with the draft from being drawn to it.",
        ),
    )


def _build_fields() -> list[Any]:
    def share(label: str, info: str, elem_id: str) -> gr.Slider:
        return gr.Slider(0, 100, value=0, step=1, label=f"{label}, %", info=info, elem_id=elem_id)

    with gr.Row():
        blind = share("Blind", "Instances, per person, judged without the draft.", "design-blind")
        first = share("Judge first", "Scored once before the draft is shown.", "design-first")
        planted = share(
            "Planted errors",
            "Drafts wrong on purpose: a score one off, or a strange quote.",
            "design-planted",
        )
    with gr.Row():
        idle = gr.Number(
            value=60,
            precision=0,
            minimum=10,
            maximum=3600,
            label="Pause the timer after (seconds)",
            info="Time without activity for longer than this is not counted as work.",
            elem_id="design-idle",
        )
        display = gr.Radio(
            [("Plain text", Display.PLAIN.value), ("Markdown", Display.MARKDOWN.value)],
            value=Display.PLAIN.value,
            label="Inputs and outputs are",
            elem_id="design-display",
        )
        hide = gr.Checkbox(
            value=True,
            label="Hide who wrote the output",
            info="Also ids and further columns that name the system.",
            elem_id="design-hide",
        )
    with gr.Row():
        layout = gr.Radio(
            [("As each likes", "choice"), ("One criterion at a time", "one"), ("All criteria", "all")],
            value="choice",
            label="Annotators work at",
            elem_id="design-layout",
        )
        waits = gr.Checkbox(
            value=False,
            label="Wait for drafts",
            info="Hold back what has no draft yet. Otherwise it can be judged, and is counted apart as undrafted.",
            elem_id="design-wait",
        )
    return [blind, first, planted, idle, display, hide, waits, layout]


def _values(design: Design) -> list[Any]:
    shares = [round(100 * share) for share in (design.blind_share, design.first_share, design.planted_share)]
    hides = [design.hide_systems, design.wait_for_drafts]
    return [*shares, design.idle_seconds, design.display.value, *hides, design.layout.value]


def _read(
    blind: float,
    first: float,
    planted: float,
    idle: float | None,
    display: str,
    hide: bool,
    waits: bool,
    layout: str,
) -> Design:
    """The fields as a design.

    Raises:
        InputError: a field is empty or holds what it cannot.
    """
    try:
        shares = (blind / 100, first / 100, planted / 100)
        return Design(
            *shares,
            idle_seconds=int(idle or 0),
            display=Display(display),
            hide_systems=bool(hide),
            wait_for_drafts=bool(waits),
            layout=Layout(layout),
        )
    except (TypeError, ValueError) as error:
        raise InputError("A field of the design cannot be read: choose its value again.") from error


def _state_view(stands: DesignState | None) -> Node:
    if stands is None:
        return el("p.note", "A new task starts with this design. Save the task first to change it.")
    opened = "1 instance was" if stands.n_opened == 1 else f"{stands.n_opened:,} instances were"
    said = (
        f"A change applies to what nobody has opened yet. So far {opened} opened, counted per person; they stay as "
        "they were shown."
    )
    by = f" Last changed {stands.changed_at[:16].replace('T', ' ')} UTC by {stands.changed_by}."
    overlap = el("p.banner.warn" if stands.overlap_missing else "p.note", stands.overlap)
    return el(
        "div", overlap if stands.overlap else None, el("p.note", said + (by if stands.changed_at else ""))
    )
