"""Set-up, People and export: roles, everybody's progress, and the way out of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from coeval.domain import Person, Role
from coeval.errors import CoevalError
from coeval.study import tasks
from coeval.study.access import Context
from coeval.study.people import sessions
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.server.identity import get_person, shown
from coeval.ui.study_app.downloads import FILES

Bind = Callable[[Callable[..., Any]], None]


def build_people_tab(context: Context, task: gr.Dropdown) -> Bind:
    """Build the tab; gives a function that loads it on an event."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=3):
            progress = View(elem_id="progress")
            export = View(elem_id="export")
        with gr.Column(scale=2, elem_classes="card"):
            View(el("h4", "Roles"))
            name = gr.Dropdown([], label="Who", elem_id="role-name")
            role = gr.Radio([str(one) for one in Role], label="Role", elem_id="role-role")
            save = gr.Button("Give the role", elem_id="role-save")
            View(
                el("p.note", "Owners set up and decide. Researchers see statistics and exports. Annotators vote and "
                   "scrutinise, and see only their own work.")
            )  # fmt: skip
    outputs = [progress, export, name, role]
    quick: dict[str, Any] = {
        "concurrency_limit": None,
        "api_visibility": "private",
        "show_progress": "hidden",
    }

    def _state(person: Person, slug: str | None) -> dict[Any, Any]:
        known = sessions.list_people(context, person)
        rows = tasks.list_progress(context, person, slug) if slug else []
        return {
            progress: _progress_view(known, rows),
            export: _export_view(slug) if slug else None,
            name: gr.Dropdown([(f"{one.name} ({one.role})", one.name) for one in known]),
        }

    def on_load(slug: str | None, request: gr.Request) -> dict[Any, Any]:
        try:
            return _state(get_person(context, request), slug)
        except CoevalError as error:
            raise shown(error) from error

    def on_role(slug: str | None, who: str | None, wanted: str | None, request: gr.Request) -> dict[Any, Any]:
        try:
            person = get_person(context, request)
            if who and wanted:
                sessions.set_role(context, person, who, Role(wanted))
            return _state(get_person(context, request), slug)
        except CoevalError as error:
            raise shown(error) from error

    save.click(on_role, [task, name, role], outputs, **quick)

    def load_on(event: Callable[..., Any]) -> None:
        event(on_load, task, outputs, **quick)

    return load_on


def _progress_view(known: list[Person], rows: list[dict[str, Any]]) -> Node:
    by_name = {row["name"]: row for row in rows}
    cells = [_progress_row(person, by_name.get(person.name)) for person in known]
    return el(
        "div.card",
        el("h4", "People and progress"),
        table(["Name", "Role", "Finished", "Flagged", "Last save (UTC)"], cells),
    )


def _progress_row(person: Person, row: dict[str, Any] | None) -> list[Node | None]:
    if row is None:
        return [person.name, str(person.role), "not opened yet", "", ""]
    share = row["finished"] / row["total"] if row["total"] else 0.0
    bar = el("div.track", el("i", width=share), title=f"{100 * share:.0f}%")
    last = str(row["last_save"] or "")[:16].replace("T", " ")
    done = el("div", f"{row['finished']:,} of {row['total']:,}", bar)
    return [person.name, str(person.role), done, str(row["flagged"]), last]


def _export_view(slug: str) -> Node:
    base = f"../download/{slug}"
    return el(
        "div.card",
        el("h4", "Export"),
        el("p", el("a.button", "Everything as CSV (zip)", href=f"{base}/export.zip", download="")),
        el(
            "p.note",
            *(part for name in FILES for part in (el("a", name, href=f"{base}/{name}"), " ")),
        ),
    )
