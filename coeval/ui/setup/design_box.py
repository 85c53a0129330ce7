"""Set-up, Tasks: the way drafts are shown, and the visibility of further columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coeval.domain import CONTEXT_ROLES, Column, ColumnRole, Person
from coeval.errors import InputError
from coeval.rules.arms import Design, Display, Layout
from coeval.ui.components.view import Node, View, el
from coeval.ui.tabs import Form, Panel, Update, need_task, tell_done
from coeval.usecases.scrutiny.design import DesignState, get_design, list_columns, set_columns, set_design

# Set-up, Tasks: the design of a study, that is, how its drafts are shown to people.


class DesignBox(Panel):
    """The box with the study design of a task."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="design"):
            self.heading = View(_heading(""), elem_id="design-heading")
            self.form = _build_form()
            with gr.Row(elem_classes="actions"):
                self.save = gr.Button("Save design", elem_id="save-design", scale=0, interactive=False)
            self.state = View(elem_id="design-state")
        self.of = gr.State("")
        self.outputs = [self.heading, *self.form.inputs, self.save, self.state, self.of]
        self.on(self.save.click, self.on_save, [self.of, *self.form.inputs])

    def load(self, person: Person, slug: str) -> Update:
        stands = get_design(self.context, person, slug) if slug else None
        return {
            self.heading: _heading(slug),
            **self.form.show(stands.design if stands else Design()),
            self.save: gr.Button(interactive=bool(slug)),
            self.state: _state_view(stands),
            self.of: slug,
        }

    def on_save(self, person: Person, slug: str, of: str, *values: Any) -> Update:
        if need_task(slug) != of:
            raise InputError(
                f"This page still shows the design of “{of}”, but the task chosen above is “{slug}”: wait "
                "until the page changes, then save."
            )
        try:
            design = Design(**self.form.read(values))
        except (TypeError, ValueError) as error:
            raise InputError("A field of the design cannot be read: choose its value again.") from error
        set_design(self.context, person, slug, design)
        tell_done("Design saved")
        return self.load(person, slug)


def _heading(slug: str) -> Node:
    return el(
        "div",
        el("h4", f"Study design of {slug}" if slug else "Study design"),
        el(
            "p.note",
            "People who see a draft lean towards it. These shares let the study measure this effect: "
            "without them, it cannot separate agreement from influence.",
        ),
    )


SHARES = {
    "blind_share": ("Blind", "without the draft", "What the draft did to the scores.", "design-blind"),
    "first_share": (
        "Judge first",
        "with the draft, after a first score",
        "How far a person moves towards the draft.",
        "design-first",
    ),
    "evidence_share": (
        "Evidence only",
        "with the passages that the draft quotes",
        "What the quoted passages alone do to the scores.",
        "design-evidence",
    ),
    "reasons_share": (
        "Evidence and reasons",
        "with the draft’s evidence, without its conclusion and score",
        "What the reasons do to the scores.",
        "design-reasons",
    ),
    "planted_share": (
        "Planted errors",
        "with a draft that has an error on purpose",
        "Who still reads the drafts: a score is off by one.",
        "design-planted",
    ),
}
"""Label, the way of showing, what it tells, and id of each share; the page shows shares as percentages."""


def _build_form() -> Form:
    form = Form(
        {"display": Display, "layout": Layout, **dict.fromkeys(SHARES, lambda percent: percent / 100)},
        dict.fromkeys(SHARES, lambda share: round(100 * share)),
    )
    with gr.Column(elem_id="design-shares"):
        for name, (label, way, tells, elem_id) in SHARES.items():
            with gr.Row(equal_height=True):
                form[name] = gr.Number(
                    0,
                    label=f"{label}, %",
                    precision=0,
                    minimum=0,
                    maximum=100,
                    min_width=120,
                    elem_id=elem_id,
                )
                with gr.Column(scale=4):
                    View(el("p", f"Shown {way}. ", el("span.note", tells)))
        View(el("p.note", "All other items are shown with the whole draft."))
    with gr.Row():
        form["idle_seconds"] = gr.Number(
            value=60,
            precision=0,
            minimum=10,
            maximum=3600,
            label="Seconds until the timer pauses",
            info="Longer pauses do not count as work.",
            elem_id="design-idle",
        )
        form["display"] = gr.Radio(
            [("Plain text", Display.PLAIN.value), ("Markdown", Display.MARKDOWN.value)],
            value=Display.PLAIN.value,
            label="Text format",
            elem_id="design-display",
        )
        form["layout"] = gr.Radio(
            [("One criterion at a time", Layout.ONE.value), ("All criteria", Layout.ALL.value)],
            value=Layout.ONE.value,
            label="View",
            info="What annotators see first. The key V switches.",
            elem_id="design-layout",
        )
    with gr.Row():
        for name, on, label, info, elem_id in SWITCHES:
            form[name] = gr.Checkbox(value=on, label=label, info=info, elem_id=elem_id)
    return form


SWITCHES = (
    (
        "hide_systems",
        True,
        "Hide who wrote the output",
        "Also hides ids and other columns that name the system.",
        "design-hide",
    ),
    (
        "input_first",
        False,
        "Input above the output",
        "If off, the output is above a long input, and stays in view.",
        "design-input-first",
    ),
)
"""Field, default, label, help text and id of each switch of the design."""


def design_hint(slug: str, design: Design) -> Node | None:
    """Return the sentence on the design before people begin; None if the study measures what drafts do."""
    if design.blind_share or design.first_share:
        return None
    link = el("a", "set it in the study design", href=f"?task={slug}&tab=tasks#design-more")
    return el("p.note", "20% blind? Then you can say what the draft did to the scores: ", link, ".")


NO_DRAFTS = (
    "This study has no drafts, so nobody sees one, and these shares tell you nothing. "
    "Pre-fill drafts before people begin."
)


def _state_view(stands: DesignState | None) -> Node:
    if stands is None:
        return el("p.note", "A new task starts with this design. Save the task first to change it.")
    said = f"Applies only to items that nobody has opened ({stands.n_opened:,} opened, counted per person)."
    by = f" Last changed {stands.changed_at[:16].replace('T', ' ')} UTC by {stands.changed_by}."
    note = el("p.note", said + (by if stands.changed_at else ""))
    if stands.has_drafts or not any(getattr(stands.design, name) for name in SHARES):
        return note
    return el("div", el("p.warn", NO_DRAFTS, role="alert"), note)


# Set-up: who may see the further columns of a task, chosen for a task and before an import.

QUESTION = (
    "Other columns are hidden until you show them. Show only columns that belong to the "
    "judged item: a judge that sees a known score repeats it."
)

LABELS = {
    ColumnRole.SHOWN: "Shown to judge and people",
    ColumnRole.PEOPLE: "Shown to people only",
    ColumnRole.IMAGE: "Images, shown to judge and people",
    ColumnRole.HIDDEN: "Hidden",
    ColumnRole.ASSISTANT_SCORE: "Automatic metrics (hidden)",
    ColumnRole.HUMAN_SCORE: "Existing human scores (hidden)",
}


WORDS: dict[str, Any] = {
    "head": ["Column", "For example", "Role"],
    "asks": "Who sees",
    "fields": "Part of the instance",
    "others": "Other column",
    "shown": ColumnRole.SHOWN.value,
    "show": "Show to judge and people",
}
"""Texts for the browser: the headings of the table, and its button with the role that it sets."""


@dataclass(frozen=True, slots=True)
class RoleRow:
    """A column with an example and its role; ``fixed`` is its role if there is no choice."""

    name: str
    example: str = ""
    role: str = ColumnRole.HIDDEN
    fixed: str = ""


class _ChosenRole(BaseModel):
    """A row from the browser."""

    model_config = ConfigDict(extra="ignore")
    name: str = Field(max_length=1_000_000)
    role: str = Field(max_length=100)
    fixed: str = ""


class RoleTable(gr.HTML):
    """A menu of roles for each column, and a button that shows the column to judge and people.

    ``fields`` are offered before the roles, each for at most one column; ``asks`` is the beginning of a
    menu's name. ``static/texts/view.js`` builds it; names and examples can never become markup.
    """

    def __init__(
        self, fields: Mapping[str, str] | None = None, asks: str = WORDS["asks"], **options: Any
    ) -> None:
        self.fields, self.asks = dict(fields or {}), asks
        super().__init__(
            value=None,
            html_template='<div class="coeval coeval-view coeval-roles"></div>',
            js_on_load="window.coevalReady(() => window.coeval.roles(element, props, watch));",
            apply_default_css=False,
            **options,
        )

    def preprocess(self, payload: Any) -> Any:
        """Return the role, or the field, that was chosen for each column."""
        rows = payload.get("rows", ()) if isinstance(payload, dict) else ()
        try:
            sent = [_ChosenRole.model_validate(row) for row in rows]
            chosen = {row.name: self._read(row.role) for row in sent if not row.fixed}
        except (ValidationError, ValueError, TypeError):
            raise gr.Error("The roles of the columns cannot be read: reload the page.") from None
        return chosen

    def _read(self, role: str) -> str:
        return role if role in self.fields else ColumnRole(role)

    def postprocess(self, value: Any) -> Any:
        roles = [[role.value, LABELS[role]] for role in CONTEXT_ROLES]
        rows = [asdict(row) for row in value or ()]
        words = WORDS | {"asks": self.asks}
        return {"rows": rows, "fields": list(self.fields.items()), "roles": roles, "words": words}

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}


class ColumnsBox(Panel):
    """The box with the further columns of a task and their visibility."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="columns", visible=False) as self.box:
            View(el("h4", "Visibility of other columns"))
            View(el("p.note", QUESTION))
            self.roles = RoleTable(elem_id="columns-roles")
            with gr.Row(elem_classes="actions"):
                save = gr.Button("Save visibility", elem_id="save-columns", scale=0, min_width=220)
        self.outputs = [self.box, self.roles]
        self.on(save.click, self.on_save, [self.roles])

    def load(self, person: Person, slug: str) -> Update:
        columns = list_columns(self.context, person, slug) if slug else []
        rows = [RoleRow(column.name, _tell(column), column.role) for column in columns]
        return {self.box: gr.Column(visible=bool(columns)), self.roles: rows}

    def on_save(self, person: Person, slug: str, chosen: dict[str, ColumnRole]) -> Update:
        columns = {column.name for column in list_columns(self.context, person, need_task(slug))}
        if set(chosen) != columns:
            raise InputError("The columns of the task have changed: reload the page, then choose.")
        set_columns(self.context, person, slug, chosen)
        tell_done("Saved. New drafts use this setting.")
        return self.load(person, slug)


def _tell(column: Column) -> str:
    if column.withheld:
        return "shown to nobody: it names a system, and this study hides its systems"
    return "please check" if column.is_open else ""
