"""Set-up, Tasks: the design of a study, which is how its drafts are shown to people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.errors import CoevalError, InputError
from coeval.rules.arms import Design, Display
from coeval.study.access import Context
from coeval.study.scrutiny.design import DesignState, get_design, set_design
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person, shown

Bind = Callable[[Callable[..., Any]], None]


def build_design_box(context: Context, task: gr.Dropdown) -> Bind:
    """Build the box; gives a function that loads it on an event."""
    with gr.Column(elem_classes="card", elem_id="design"):
        View(_heading())
        fields = _build_fields()
        with gr.Row(elem_classes="actions"):
            save = gr.Button("Save design", elem_id="save-design", scale=0)
        state = View(elem_id="design-state")
    outputs = [*fields, state]
    quick: dict[str, Any] = {
        "concurrency_limit": None,
        "api_visibility": "private",
        "show_progress": "hidden",
    }

    def _shown(person: Person, slug: str | None) -> list[Any]:
        stands = get_design(context, person, slug) if slug else None
        return [*_values(stands.design if stands else Design()), _state_view(stands)]

    def on_load(slug: str | None, request: gr.Request) -> list[Any]:
        try:
            return _shown(get_person(context, request), slug)
        except CoevalError as error:
            raise shown(error) from error

    def on_save(
        slug: str | None,
        blind: float,
        first: float,
        planted: float,
        idle: float,
        display: str,
        hide: bool,
        request: gr.Request,
    ) -> list[Any]:
        try:
            person = get_person(context, request)
            if not slug:
                raise InputError("There is no task yet: state one above, then choose its design.")
            set_design(context, person, slug, _read(blind, first, planted, idle, display, hide))
            gr.Info("Design saved")
            return _shown(person, slug)
        except CoevalError as error:
            raise shown(error) from error

    save.click(on_save, [task, *fields], outputs, **quick)

    def load_on(event: Callable[..., Any]) -> None:
        event(on_load, task, outputs, **quick)

    return load_on


def _heading() -> Node:
    return el(
        "div",
        el("h4", "Study design"),
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
            label="Idle after, seconds",
            info="Active time stands still without a sign of life for this long.",
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
    return [blind, first, planted, idle, display, hide]


def _values(design: Design) -> list[Any]:
    shares = [round(100 * share) for share in (design.blind_share, design.first_share, design.planted_share)]
    return [*shares, design.idle_seconds, design.display.value, design.hide_systems]


def _read(blind: float, first: float, planted: float, idle: float | None, display: str, hide: bool) -> Design:
    """The fields as a design.

    Raises:
        InputError: a field is empty or holds what it cannot.
    """
    try:
        return Design(blind / 100, first / 100, planted / 100, int(idle or 0), Display(display), bool(hide))
    except (TypeError, ValueError) as error:
        raise InputError("A field of the design cannot be read: choose its value again.") from error


def _state_view(stands: DesignState | None) -> Node | None:
    if stands is None:
        return None
    pairs = f"{stands.n_opened:,} instance{' has' if stands.n_opened == 1 else 's have'}"
    said = (
        f"A change applies to what nobody has opened yet. {pairs} been opened, counted per person, and keep "
        "the way they were shown."
    )
    by = f" Last changed {stands.changed_at[:16].replace('T', ' ')} UTC by {stands.changed_by}."
    return el("p.note", said + (by if stands.changed_at else ""))
