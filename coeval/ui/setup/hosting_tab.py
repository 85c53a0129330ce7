"""Set-up, Hosting: invitations, and the snapshots that keep the file."""

from __future__ import annotations

import gradio as gr

from coeval.clock import read_time, utc_now
from coeval.domain import Person, Role
from coeval.settings import SignIn
from coeval.study.hosting import snapshots
from coeval.study.hosting.snapshots import ShelfState, SnapshotState
from coeval.study.people import accounts, sessions
from coeval.study.people.accounts import build_link
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.components.words import plural
from coeval.ui.panel import Tab, Update


class HostingTab(Tab):
    """Snapshots of the file, invitations, and ending sessions."""

    title, id = "Hosting", "hosting"

    def build(self) -> None:
        self.kept = View(elem_id="snapshots")
        with gr.Row(elem_classes="actions"):
            take = gr.Button("Take a snapshot now", elem_id="snapshot-take", scale=0, min_width=220)
        self.outputs = [self.kept]
        self.on(take.click, self.on_take)
        self._build_invitations()
        self._build_sessions()

    def _build_invitations(self) -> None:
        with gr.Column(elem_classes="card", visible=self.context.settings.sign_in is SignIn.ACCOUNTS):
            View(el("h4", "Invite"))
            with gr.Row():
                role = gr.Radio([str(one) for one in Role], value=str(Role.ANNOTATOR), label="Invite as")
                name = gr.Textbox(
                    label="Or a new password for", placeholder="a name, or empty", elem_id="invite-name"
                )
            link = gr.Textbox(label="The link: shown once", interactive=False, elem_id="invite-link")
            with gr.Row(elem_classes="actions"):
                make = gr.Button("Make a link that works once", elem_id="invite-make", scale=0, min_width=260)
        self.on(make.click, self.on_invite, [role, name], link)

    def _build_sessions(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Sessions"))
            who = gr.Textbox(label="End all sessions of", placeholder="a name", elem_id="sessions-name")
            ended = View(elem_id="sessions-ended")
            with gr.Row(elem_classes="actions"):
                end = gr.Button("End them", elem_id="sessions-end", scale=0)
        self.on(end.click, self.on_end, [who], ended)

    def load(self, person: Person, slug: str) -> Update:
        return {self.kept: _view(snapshots.get_snapshots(self.context, person))}

    def on_take(self, person: Person, slug: str) -> Update:
        return {self.kept: _view(snapshots.take_snapshot(self.context, person))}

    def on_invite(self, person: Person, slug: str, role: str | None, known: str | None) -> str:
        token = accounts.invite(
            self.context, person, Role(role or Role.ANNOTATOR), name=(known or "").strip()
        )
        return build_link(self.context.settings, token)

    def on_end(self, person: Person, slug: str, known: str | None) -> Node:
        name = (known or "").strip()
        n = sessions.end_sessions(self.context, person, name)
        return el("p.note", f"{plural(n, 'session')} of {name} ended.")


def _view(state: SnapshotState | None) -> Node:
    if state is None:
        return el(
            "div.card",
            el("h4", "Snapshots"),
            el("p", "None are taken: where the disk is wiped at a restart, all is lost."),
            el("p.note", "Set COEVAL_SNAPSHOT_DIR to a folder, or COEVAL_SNAPSHOT_REPO and HF_TOKEN."),
        )
    head = ["Where", "Newest snapshot (UTC)", "Age", "Trouble"]
    came = [
        el("p", f"This file came back from {one.name} ({one.source}) at {_short(one.restored_at)}; the snapshot "
           f"was {_age(one.taken_at, one.restored_at)} old. What was saved in between is not in it.")
        for one in state.restorations
    ]  # fmt: skip
    return el(
        "div.card",
        el("h4", f"Snapshots, every {state.minutes:g} minutes and at the end"),
        table(head, [_row(one) for one in state.shelves]),
        *came,
    )


def _row(one: ShelfState) -> list[Node | None]:
    trouble = f"{_short(one.failed_at)}: {one.error}" if one.error else "none"
    return [one.title, _short(one.saved_at) or "none yet", _age(one.saved_at, ""), trouble]


def _short(at: str) -> str:
    return at[:16].replace("T", " ")


def _age(at: str, until: str) -> str:
    """How long ago, in words; empty for never.

    >>> _age("2026-01-31T09:30:00.000Z", "2026-01-31T12:31:00.000Z")
    '3 h 1 min'
    """
    if not at:
        return ""
    end = read_time(until) if until else utc_now()
    minutes = max(0, int((end - read_time(at)).total_seconds() // 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
