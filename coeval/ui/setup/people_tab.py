"""Set-up, People and export: roles, everybody's progress, and the way out of the data."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Group, Member, Person, Role
from coeval.study import tasks
from coeval.study.people import membership, sessions
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Tab, Update
from coeval.ui.setup.team_box import TeamBox
from coeval.ui.study_app.downloads import FILES


class PeopleTab(Tab):
    """Who takes part, in which role and group and how far, and the export."""

    title, id = "People", "people"

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3):
                self.progress = View(elem_id="progress")
                self.export = View(elem_id="export")
            with gr.Column(scale=2):
                self.team = TeamBox(self.context, self.task)
                role, give, disable, enable = self._build_account()
                group, put = self._build_groups()
        self.outputs = [self.progress, self.export, self.name, self.several, *self.team.outputs]
        self.on(give.click, self.on_role, [self.name, role])
        self.on(disable.click, self.on_disable, [self.name])
        self.on(enable.click, self.on_enable, [self.name])
        self.on(put.click, self.on_group, [self.several, group])

    def _build_account(self) -> tuple[gr.Radio, gr.Button, gr.Button, gr.Button]:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Role and account"))
            self.name = gr.Dropdown([], label="Who", elem_id="role-name")
            role = gr.Radio([str(one) for one in Role], label="Role", elem_id="role-role")
            give = gr.Button("Give the role", elem_id="role-save")
            View(
                el("p.note", "Owners set up and decide. Researchers see statistics and exports. Annotators vote "
                   "and scrutinise, and see only their own work.")
            )  # fmt: skip
            with gr.Row():
                disable = gr.Button("Disable the account", elem_id="account-disable", min_width=140)
                enable = gr.Button("Enable it again", elem_id="account-enable", min_width=140)
            View(
                el("p.note", "Who is disabled is signed out everywhere and cannot sign in; the work they saved is "
                   "kept and counts as before.")
            )  # fmt: skip
        return role, give, disable, enable

    def _build_groups(self) -> tuple[gr.Radio, gr.Button]:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Groups"))
            self.several = gr.Dropdown([], label="Who", multiselect=True, elem_id="group-names")
            group = gr.Radio([str(one) for one in Group], label="Group", elem_id="group-group")
            put = gr.Button("Set the group", elem_id="group-save")
            View(
                el("p.note", "The tally, the statistics and the exports count people by group. People who come by a "
                   "study’s link are the crowd and everybody else is the team, unless you set it here. Beside "
                   "experts, the alternative annotator test asks less of a judge.")
            )  # fmt: skip
        return group, put

    def load(self, person: Person, slug: str) -> Update:
        # who cannot sign in stands last: the examples' people are many
        members = sorted(membership.list_members(self.context, person), key=lambda one: bool(one.disabled_at))
        progress = tasks.list_progress(self.context, person, slug) if slug else []
        known = [(f"{one.person.name} ({one.person.role})", one.person.name) for one in members]
        return {
            self.progress: _progress_view(members, progress),
            self.export: _export_view(slug) if slug else None,
            self.name: gr.Dropdown(known),
            self.several: gr.Dropdown(known),
            **self.team.show(person, slug, members),
        }

    def on_role(self, person: Person, slug: str, name: str | None, role: str | None) -> Update:
        if name and role:
            sessions.set_role(self.context, person, name, Role(role))
        return self.load(person, slug)

    def on_disable(self, person: Person, slug: str, name: str | None) -> Update:
        if name:
            membership.disable_account(self.context, person, name)
        return self.load(person, slug)

    def on_enable(self, person: Person, slug: str, name: str | None) -> Update:
        if name:
            membership.enable_account(self.context, person, name)
        return self.load(person, slug)

    def on_group(self, person: Person, slug: str, names: list[str] | None, group: str | None) -> Update:
        if names and group:
            membership.set_group(self.context, person, names, Group(group))
        return self.load(person, slug)


def _progress_view(members: list[Member], rows: list[dict[str, Any]]) -> Node:
    by_name = {row["name"]: row for row in rows}
    cells = [_progress_row(one, by_name.get(one.person.name)) for one in members]
    return el(
        "div.card",
        el("h4", "People and progress"),
        el("div.scroll", table(["Name", "Role", "Group", "Finished", "Flagged", "Last save (UTC)"], cells)),
    )


def _progress_row(member: Member, row: dict[str, Any] | None) -> list[Node | None]:
    person = member.person
    since = f"disabled since {member.disabled_at[:10]}"
    name = el("span", f"{person.name} ", el("small.tag", since)) if member.disabled_at else person.name
    who: list[Node | None] = [name, str(person.role), str(member.group)]
    if row is None:
        return [*who, "not opened yet", "", ""]
    share = row["finished"] / row["total"] if row["total"] else 0.0
    bar = el("div.track", el("i", width=share), title=f"{100 * share:.0f}%")
    last = str(row["last_save"] or "")[:16].replace("T", " ")
    done = el("div", f"{row['finished']:,} of {row['total']:,}", bar)
    return [*who, done, str(row["flagged"]), last]


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
