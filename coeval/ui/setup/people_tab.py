"""Set-up, People: progress, roles, accounts, invitations, the team, and the export of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from coeval.domain import Group, Invitation, Member, Person, Role
from coeval.errors import InputError
from coeval.settings import SignIn
from coeval.ui.app.downloads import FILES
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.tabs import PageGroup, Panel, Tab, Update, more_settings, need_task, tell_done
from coeval.usecases import accounts, sessions, tasks
from coeval.usecases.accounts import build_link
from coeval.usecases.scrutiny.policies import Team, get_team, set_team

# Set-up, People: one-time links, new passwords, and the end of sessions.


class InviteBox(Panel):
    """The box for invitations, password resets and people's sessions."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", visible=self.context.settings.sign_in is SignIn.ACCOUNTS):
            View(el("h4", "Invitations and new passwords"))
            with gr.Row():
                role = gr.Radio(
                    [str(choice) for choice in Role], value=str(Role.ANNOTATOR), label="Invite as"
                )
                name = gr.Textbox(
                    label="New password for",
                    info="Leave blank to invite someone new.",
                    elem_id="invite-name",
                )
            link = gr.Textbox(
                label="Link",
                info="It is shown only once.",
                interactive=False,
                buttons=["copy"],
                elem_id="invite-link",
            )
            with gr.Row(elem_classes="actions"):
                make = gr.Button("Create a one-time link", elem_id="invite-make", scale=0, min_width=260)
            self.open_links = View(elem_id="invite-open")
            with gr.Row(elem_classes="actions"):
                key = gr.Textbox(label="Revoke a link", placeholder="key of the link", elem_id="invite-key")
                revoke = gr.Button("Revoke the link", elem_id="invite-revoke", scale=0)
        self.outputs = [self.open_links]
        self.on(make.click, self.on_invite, [role, name], [link, self.open_links])
        self.on(revoke.click, self.on_revoke, [key], self.open_links)

    def build_sessions(self) -> None:
        """Build the form for ending a person's sessions."""
        with gr.Column(elem_classes="card"):
            View(el("h4", "Sessions"))
            who = gr.Textbox(label="End all sessions of", placeholder="username", elem_id="sessions-name")
            ended = View(elem_id="sessions-ended")
            with gr.Row(elem_classes="actions"):
                end = gr.Button("End sessions", elem_id="sessions-end", scale=0)
        self.on(end.click, self.on_end, [who], ended)

    def show(self, person: Person) -> Update:
        """Return the open links."""
        return {self.open_links: _links(accounts.list_invitations(self.context, person))}

    def on_invite(self, person: Person, slug: str, role: str | None, member: str | None) -> list[Node]:
        token = accounts.invite(
            self.context, person, Role(role or Role.ANNOTATOR), name=(member or "").strip()
        )
        return [
            build_link(self.context.settings, token),
            _links(accounts.list_invitations(self.context, person)),
        ]

    def on_revoke(self, person: Person, slug: str, key: str | None) -> Node:
        return _links(accounts.revoke_invitation(self.context, person, key or ""))

    def on_end(self, person: Person, slug: str, member: str | None) -> Node:
        name = (member or "").strip()
        n = sessions.end_sessions(self.context, person, name)
        return el("p.note", f"{plural(n, 'session')} of {name} ended.")


def _links(links: Sequence[Invitation]) -> Node:
    """Return the table of links that are still valid."""
    if not links:
        return el("p.note", "No link is open.")
    lines = [
        [invitation.key,
         f"a new password for {invitation.person.name}" if invitation.person else str(invitation.role),
         invitation.created_by, invitation.expires_at[:16].replace("T", " ")]
        for invitation in links
    ]  # fmt: skip
    return table(["Key", "Purpose", "Created by", "Valid until (UTC)"], lines)


class TeamBox(Panel):
    """The box with the people of the chosen task."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="team"):
            View(el("h4", "Who works on this task"))
            self.names = gr.Dropdown(
                [],
                label="People",
                info="Select nobody to include everybody.",
                multiselect=True,
                elem_id="team-names",
            )
            self.per_instance = gr.Number(
                0,
                precision=0,
                minimum=0,
                maximum=1000,
                label="People per instance",
                info="0 gives everyone every instance, in different orders. Two people who judge half of "
                "them share about a quarter.",
                elem_id="team-each",
            )
            save = gr.Button("Save people", variant="primary", elem_id="team-save")
            self.state = View(elem_id="team-state")
        self.outputs = [self.names, self.per_instance, self.state]
        self.on(save.click, self.on_save, [self.names, self.per_instance])

    def show(self, person: Person, slug: str, members: Sequence[Member]) -> Update:
        """Return the box for a task; ``members`` are the people to choose from."""
        team = get_team(self.context, person, slug) if slug else Team()
        names = [
            member.person.name
            for member in members
            if not (member.disabled_at or member.guest) or member.person.name in team.members
        ]
        return {
            self.names: gr.Dropdown(names, value=list(team.members)),
            self.per_instance: team.per_instance,
            self.state: _state_view(team),
        }

    def on_save(
        self, person: Person, slug: str, names: list[str] | None, per_instance: float | None
    ) -> Update:
        set_team(self.context, person, need_task(slug), names or [], int(per_instance or 0))
        tell_done("The people of this task are saved.")
        team = get_team(self.context, person, slug)
        return {
            self.names: list(team.members),
            self.per_instance: team.per_instance,
            self.state: _state_view(team),
        }


def _state_view(team: Team) -> Node:
    if not team.members:
        return el("p.note", "Everybody with a role sees the task and judges every instance.")
    if not team.per_instance:
        return el("p.note", "These people see the task, and each of them judges every instance.")
    rows = [[name, f"{n:,}"] for name, n in team.given]
    return el(
        "div",
        el("p.note", "Outputs for the same input go to the same people. Opened instances do not move; "
           "instances imported later are assigned automatically."),
        table(["Name", "Instances"], rows),
    )  # fmt: skip


# Set-up, People: everybody's progress, roles, accounts and invitations, and the export of the data.


JOIN = {
    SignIn.NAMES: "They sign in with any name, and appear here. The server must be reachable from their computers. "
    "Anyone who types an owner's name becomes that owner: for people on other computers, use accounts "
    "(COEVAL_SIGN_IN=accounts).",
    SignIn.HUGGINGFACE: "They sign in with their Hugging Face account, and appear here as guests until you give them "
    "a role below.",
    SignIn.ACCOUNTS: "New people also need a one-time link, which you create below.",
}
"""How invited people join, by the kind of sign-in."""


class PeopleTab(Tab):
    """The tab with all people, their roles, groups and progress, and the export."""

    title, id = "People", "people"
    group = PageGroup.PEOPLE

    def build(self) -> None:
        with gr.Row(equal_height=False):
            with gr.Column(scale=3):
                self.progress = View(elem_id="progress")
                self.export = View(elem_id="export")
            with gr.Column(scale=2):
                self._build_address()
                self.invitations = InviteBox(self.context, self.task)
                role, give, disable, enable = self._build_account()
                self.team = TeamBox(self.context, self.task)
                with more_settings("people-more"):
                    group, put = self._build_groups()
                    self.invitations.build_sessions()
        self.outputs = [
            self.progress, self.export, self.address, self.name, self.several,
            *self.team.outputs, *self.invitations.outputs,
        ]  # fmt: skip
        self.on(give.click, self.on_role, [self.name, role])
        self.on(disable.click, self.on_disable, [self.name])
        self.on(enable.click, self.on_enable, [self.name])
        self.on(put.click, self.on_group, [self.several, group])

    def _build_address(self) -> None:
        kind = self.context.settings.sign_in
        with gr.Column(elem_classes="card", visible=kind in JOIN):
            View(el("h4", "Invite people"))
            self.address = gr.Textbox(
                label="Send them this address", interactive=False, buttons=["copy"], elem_id="people-address"
            )
            View(el("p.note", JOIN.get(kind, "")))

    def _build_account(self) -> tuple[gr.Radio, gr.Button, gr.Button, gr.Button]:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Role and account"))
            self.name = gr.Dropdown([], label="Who", elem_id="role-name")
            roles = [str(role_name) for role_name in Role]
            role = gr.Radio(roles, label="Role", elem_id="role-role")
            give = gr.Button("Set the role", elem_id="role-save")
            View(
                el("p.note", "Owners set up and decide. Researchers see statistics and exports. Annotators vote "
                   "and scrutinise, and see only their own work.")
            )  # fmt: skip
            with gr.Row():
                disable = gr.Button("Disable the account", elem_id="account-disable", min_width=140)
                enable = gr.Button("Enable the account", elem_id="account-enable", min_width=140)
            View(
                el("p.note", "Disabled people are signed out and cannot sign in; their work stays and still counts.")
            )  # fmt: skip
        return role, give, disable, enable

    def _build_groups(self) -> tuple[gr.Radio, gr.Button]:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Groups"))
            self.several = gr.Dropdown([], label="Who", multiselect=True, elem_id="group-names")
            group = gr.Radio([str(group_name) for group_name in Group], label="Group", elem_id="group-group")
            put = gr.Button("Set the group", elem_id="group-save")
            View(
                el("p.note", "The tally, the statistics and the exports count people by group. People who come by a "
                   "study’s link are the crowd and everybody else is the team, unless you set it "
                   "here. The "
                   "alternative annotator test is easier for a judge to pass against experts.")
            )  # fmt: skip
        return group, put

    def load(self, person: Person, slug: str) -> Update:
        # people who cannot sign in come last, because the examples have many
        members = sorted(
            sessions.list_members(self.context, person), key=lambda member: bool(member.disabled_at)
        )
        here = {member.person.id for member in sessions.list_members(self.context, person, slug)}
        progress = tasks.list_progress(self.context, person, slug) if slug else []
        choices = [(f"{member.person.name} ({member.standing})", member.person.name) for member in members]
        return {
            self.progress: _progress_view(
                [member for member in members if member.person.id in here], progress
            ),
            self.export: _export_view(slug) if slug else None,
            self.address: f"{self.context.settings.address}/" + (f"?task={slug}" if slug else ""),
            self.name: gr.Dropdown(choices),
            self.several: gr.Dropdown(choices),
            **self.team.show(person, slug, members),
            **self.invitations.show(person),
        }

    def on_role(self, person: Person, slug: str, name: str | None, role: str | None) -> Update:
        if not role:
            raise InputError("Choose a role first.")
        sessions.set_role(self.context, person, _need_person(name), Role(role))
        tell_done(f"{name} is now: {role}")
        return self.load(person, slug)

    def on_disable(self, person: Person, slug: str, name: str | None) -> Update:
        sessions.disable_account(self.context, person, _need_person(name))
        tell_done(f"The account of {name} is disabled.")
        return self.load(person, slug)

    def on_enable(self, person: Person, slug: str, name: str | None) -> Update:
        sessions.enable_account(self.context, person, _need_person(name))
        tell_done(f"The account of {name} is enabled.")
        return self.load(person, slug)

    def on_group(self, person: Person, slug: str, names: list[str] | None, group: str | None) -> Update:
        if not names or not group:
            raise InputError("Choose people and a group first.")
        sessions.set_group(self.context, person, names, Group(group))
        tell_done(f"Set to {group}: {', '.join(names)}")
        return self.load(person, slug)


def _need_person(name: str | None) -> str:
    if not name:
        raise InputError("Choose a person first, under Who.")
    return name


def _progress_view(members: list[Member], rows: list[dict[str, Any]]) -> Node:
    by_name = {row["name"]: row for row in rows}
    saved = {row["name"] for row in rows if row["last_save"]}
    away = [member for member in members if member.disabled_at and member.person.name not in saved]
    here = [member for member in members if member not in away]
    return el(
        "div.card",
        el("h4", "People and progress"),
        _people_table(here, by_name),
        el(
            "details",
            el(
                "summary",
                plural(len(away), "disabled person without work here", "disabled people without work here"),
            ),
            _people_table(away, by_name),
            id="people-away",
        )
        if away
        else None,
    )


def _people_table(members: list[Member], by_name: dict[str, dict[str, Any]]) -> Node:
    cells = [_progress_row(member, by_name.get(member.person.name)) for member in members]
    head = ["Name", "Role", "Group", "Finished", "Flagged", "Last save (UTC)"]
    return el("div.scroll", table(head, cells))


def _progress_row(member: Member, row: dict[str, Any] | None) -> list[Node | None]:
    person = member.person
    since = f"disabled since {member.disabled_at[:10]}"
    name = el("span", f"{person.name} ", el("small.tag", since)) if member.disabled_at else person.name
    who: list[Node | None] = [name, member.standing, str(member.group)]
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
        el("p", el("a", "Everything as CSV (zip)", href=f"{base}/export.zip", download="")),
        el(
            "details",
            el("summary", "Single files"),
            *(part for name in FILES for part in (el("a", name, href=f"{base}/{name}", download=""), " ")),
        ),
    )
