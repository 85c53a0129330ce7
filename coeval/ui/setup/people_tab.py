"""Set-up, People and export: roles, everybody's progress, and the way out of the data."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person, Role
from coeval.study import tasks
from coeval.study.people import sessions
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Tab, Update
from coeval.ui.study_app.downloads import FILES


class PeopleTab(Tab):
    """Who takes part, in which role and how far, and the export."""

    title, id = "People", "people"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3):
                self.progress = View(elem_id="progress")
                self.export = View(elem_id="export")
            with gr.Column(scale=2, elem_classes="card"):
                View(el("h4", "Roles"))
                self.name = gr.Dropdown([], label="Who", elem_id="role-name")
                role = gr.Radio([str(one) for one in Role], label="Role", elem_id="role-role")
                save = gr.Button("Give the role", elem_id="role-save")
                View(
                    el("p.note", "Owners set up and decide. Researchers see statistics and exports. Annotators vote "
                       "and scrutinise, and see only their own work.")
                )  # fmt: skip
        self.outputs = [self.progress, self.export, self.name]
        self.on(save.click, self.on_role, [self.name, role])

    def load(self, person: Person, slug: str) -> Update:
        people = sessions.list_people(self.context, person)
        progress = tasks.list_progress(self.context, person, slug) if slug else []
        return {
            self.progress: _progress_view(people, progress),
            self.export: _export_view(slug) if slug else None,
            self.name: gr.Dropdown([(f"{one.name} ({one.role})", one.name) for one in people]),
        }

    def on_role(self, person: Person, slug: str, name: str | None, role: str | None) -> Update:
        if name and role:
            sessions.set_role(self.context, person, name, Role(role))
        return self.load(person, slug)


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
