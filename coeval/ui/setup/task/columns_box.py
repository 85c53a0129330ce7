"""Set-up: who may see the further columns of a task, chosen for a task and before an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from coeval.domain import CONTEXT_ROLES, Column, ColumnRole, Person
from coeval.errors import InputError
from coeval.study.importing.columns import list_columns, set_columns
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Panel, Update, need_task, tell_done

CHOSEN = tuple(role for role in CONTEXT_ROLES if role is not ColumnRole.HIDDEN)
"""A menu each; whatever is in none of them is hidden."""

LABELS = {
    ColumnRole.SHOWN: "Shown to the model and to people",
    ColumnRole.PEOPLE: "Shown to people only",
    ColumnRole.IMAGE: "Images: addresses or data: URIs, shown to people and sent to the model",
    ColumnRole.ASSISTANT_SCORE: "Scores of other measures (hidden)",
    ColumnRole.HUMAN_SCORE: "Scores that people gave elsewhere (hidden)",
}


class RoleMenus:
    """A menu for each role, with the columns that have it, and a table of what follows from that."""

    def __init__(self, name: str) -> None:
        self.menus = [
            gr.Dropdown([], multiselect=True, label=LABELS[role], elem_id=f"{name}-{role.name.lower()}")
            for role in CHOSEN
        ]
        self.view = View(elem_id=f"{name}-roles")
        self.outputs = [*self.menus, self.view]

    def show(self, columns: Sequence[Column], values: Mapping[str, str] | None = None) -> Update:
        """The menus for these columns; ``values`` are examples to show beside the names."""
        names = [column.name for column in columns]
        menus = {
            menu: gr.Dropdown(names, value=[column.name for column in columns if column.role is role])
            for role, menu in zip(CHOSEN, self.menus, strict=True)
        }
        return {**menus, self.view: roles_view(columns, values or {})}


def read_roles(names: Sequence[str], chosen: Sequence[Sequence[str] | None]) -> dict[str, ColumnRole]:
    """The role of every column, from what each menu holds.

    Raises:
        InputError: a column is in two menus.
    """
    roles: dict[str, ColumnRole] = {}
    for role, listed in zip(CHOSEN, chosen, strict=True):
        for name in listed or ():
            if name in roles:
                raise InputError(f"“{name}” is in two of the menus: take it out of one.")
            roles[name] = role
    return {name: roles.get(name, ColumnRole.HIDDEN) for name in names}


class ColumnsBox(Panel):
    """The further columns of a task, who sees them, and what is still to be decided."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="columns", visible=False) as self.box:
            View(el("div", el("h4", "Further columns"), el("p.note", "Who may see what the file holds beside the "
                    "input and the output. What looks like a score or a label is hidden at first.")))  # fmt: skip
            self.roles = RoleMenus("columns")
            with gr.Row(elem_classes="actions"):
                save = gr.Button("Save who sees what", elem_id="save-columns", scale=0, min_width=220)
        self.outputs = [self.box, *self.roles.outputs]
        self.on(save.click, self.on_save, self.roles.menus)

    def load(self, person: Person, slug: str) -> Update:
        columns = list_columns(self.context, person, slug) if slug else []
        return {self.box: gr.Column(visible=bool(columns)), **self.roles.show(columns)}

    def on_save(self, person: Person, slug: str, *chosen: list[str] | None) -> Update:
        names = [column.name for column in list_columns(self.context, person, need_task(slug))]
        set_columns(self.context, person, slug, read_roles(names, chosen))
        tell_done("Saved. What is drafted from now on is asked accordingly.")
        return self.load(person, slug)


def roles_view(columns: Sequence[Column], values: Mapping[str, str]) -> list[Node]:
    """Who sees what, and what is still to be decided."""
    if not columns:
        return []
    rows = [
        [column.name, values.get(column.name, ""), _yes(column.role.judge_sees), _yes(column.role.people_see)]
        for column in columns
    ]
    head = ["Column", "For example" if values else "", "The model sees it", "People see it"]
    questions = [el("li", column.question) for column in columns if column.question]
    asked: list[Any] = [el("p", "To decide:"), el("ul", *questions)] if questions else []
    return [table(head, rows), *asked]


def _yes(seen: bool) -> str:
    return "yes" if seen else "no"
