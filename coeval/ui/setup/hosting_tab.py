"""Set-up, Hosting: the snapshots that keep the file, studies that move between files, invitations."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from coeval.domain import Invitation, Person, Role
from coeval.domain.hosting import Restoration
from coeval.settings import SignIn
from coeval.study.hosting import snapshots
from coeval.study.hosting.shipper import PlaceState
from coeval.study.hosting.snapshots import SnapshotState
from coeval.study.people import accounts, sessions
from coeval.study.people.accounts import build_link
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Tab, Update
from coeval.ui.setup.exchange.moving_box import MovingBox, links_view
from coeval.ui.setup.exchange.publish_box import PublishBox
from coeval.ui.setup.images_box import ImagesBox

SHIPS_LATER = "If this machine is lost, changes from within that wait are lost with it."
SHIPS_FIRST = (
    "What people save is acknowledged only once it is in a place (COEVAL_SHIP_FIRST): if this machine is lost, no "
    "acknowledged answer is lost with it."
)


UNTIL_THERE = "With COEVAL_SHIP_FIRST=yes no save is acknowledged before it is there."


class HostingTab(Tab):
    """Snapshots of the file, moving studies, invitations, and ending sessions."""

    title, id = "Hosting", "hosting"

    def build(self) -> None:
        self.kept = View(elem_id="snapshots")
        with gr.Row(elem_classes="actions"):
            take = gr.Button("Take a snapshot now", elem_id="snapshot-take", scale=0, min_width=220)
        self.on(take.click, self.on_take, outputs=[self.kept])
        self.moving = MovingBox(self.context, self.task)
        PublishBox(self.context, self.task)
        self.images = ImagesBox(self.context, self.task)
        self._build_invitations()
        self._build_sessions()

    def _build_invitations(self) -> None:
        with gr.Column(elem_classes="card", visible=self.context.settings.sign_in is SignIn.ACCOUNTS):
            View(el("h4", "Invite"))
            with gr.Row():
                role = gr.Radio(
                    [str(choice) for choice in Role], value=str(Role.ANNOTATOR), label="Invite as"
                )
                name = gr.Textbox(
                    label="Or a new password for", placeholder="a name, or empty", elem_id="invite-name"
                )
            link = gr.Textbox(label="The link: shown once", interactive=False, elem_id="invite-link")
            with gr.Row(elem_classes="actions"):
                make = gr.Button("Make a link that works once", elem_id="invite-make", scale=0, min_width=260)
            self.open_links = View(elem_id="invite-open")
            with gr.Row(elem_classes="actions"):
                key = gr.Textbox(label="Revoke a link", placeholder="its key", elem_id="invite-key")
                revoke = gr.Button("Revoke it", elem_id="invite-revoke", scale=0)
        self.outputs = [self.kept, self.open_links, self.moving.links, *self.images.outputs]
        self.on(make.click, self.on_invite, [role, name], [link, self.open_links])
        self.on(revoke.click, self.on_revoke, [key], self.open_links)

    def _build_sessions(self) -> None:
        with gr.Column(elem_classes="card"):
            View(el("h4", "Sessions"))
            who = gr.Textbox(label="End all sessions of", placeholder="a name", elem_id="sessions-name")
            ended = View(elem_id="sessions-ended")
            with gr.Row(elem_classes="actions"):
                end = gr.Button("End them", elem_id="sessions-end", scale=0)
        self.on(end.click, self.on_end, [who], ended)

    def load(self, person: Person, slug: str) -> Update:
        return {
            self.kept: _view(snapshots.get_snapshots(self.context, person)),
            self.open_links: _links(accounts.list_invitations(self.context, person)),
            self.moving.links: links_view(slug),
            **self.images.load(person, slug),
        }

    def on_take(self, person: Person, slug: str) -> Update:
        return {self.kept: _view(snapshots.take_snapshot(self.context, person))}

    def on_invite(self, person: Person, slug: str, role: str | None, known: str | None) -> list[Node]:
        token = accounts.invite(
            self.context, person, Role(role or Role.ANNOTATOR), name=(known or "").strip()
        )
        return [
            build_link(self.context.settings, token),
            _links(accounts.list_invitations(self.context, person)),
        ]

    def on_revoke(self, person: Person, slug: str, key: str | None) -> Node:
        return _links(accounts.revoke_invitation(self.context, person, key or ""))

    def on_end(self, person: Person, slug: str, known: str | None) -> Node:
        name = (known or "").strip()
        n = sessions.end_sessions(self.context, person, name)
        return el("p.note", f"{plural(n, 'session')} of {name} ended.")


def _links(links: Sequence[Invitation]) -> Node:
    """The links that still let somebody in."""
    if not links:
        return el("p.note", "No link is open.")
    lines = [
        [invitation.key,
         f"a new password for {invitation.person.name}" if invitation.person else str(invitation.role),
         invitation.created_by, _short(invitation.expires_at)]
        for invitation in links
    ]  # fmt: skip
    return table(["Key", "Gives", "Made by", "Until (UTC)"], lines)


def _view(state: SnapshotState) -> Node:
    if not state.places:
        return el(
            "div.card",
            el("h4", "Snapshots"),
            el("p", "No place for snapshots is set: if the disk is wiped at a restart, everything is lost."),
            el("p.note", "Set COEVAL_SNAPSHOT_DIR to a folder, or COEVAL_SNAPSHOT_REPO and HF_TOKEN."),
            *_restorations(state),
        )
    head = ["Snapshot place", "All changes up to (UTC)", "Longest wait of a change, last hour", "Trouble"]
    others = sorted({lineage for place in state.places for lineage in place.lineages})
    return el(
        "div.card",
        el("h4", "Snapshots"),
        el("p.error", state.lost) if state.lost else "",
        table(head, [_row(one) for one in state.places]),
        *[
            el("p.error", f"A change of the last hour waited {place.window:.1f} s; your limit is {place.limit:g} s "
               "(COEVAL_LOSS_LIMIT). See whether the place is slow or was away, or choose a faster one. "
               + ("" if state.ships_first else UNTIL_THERE))
            for place in state.places if place.is_over
        ],
        el("p.note", SHIPS_FIRST if state.ships_first else SHIPS_LATER, " ",
           f"This study is the lineage {state.lineage}."),
        *[
            el("p", f"A place also holds snapshots of {name or 'a version before lineages'}: they are left as they "
               "are, and not followed. To go on with that study, set COEVAL_LINEAGE to it and start without a file.")
            for name in others
        ],
        *_restorations(state),
    )  # fmt: skip


def _restorations(state: SnapshotState) -> list[Node]:
    return [part for restoration in state.restorations for part in _tell(restoration)]


def _tell(restoration: Restoration) -> list[Node]:
    """What a restoration brought back, and what it cost."""
    back = f"This file came back from {restoration.name} ({restoration.source}) at {_short(restoration.restored_at)}."
    lost = f"What was saved after {_exact(restoration.taken_at)} and had not reached the place is not in it."
    told: list[Node] = [el("p", f"{back} {lost}")]
    if restoration.passed_over:
        names = restoration.passed_over.replace("\n", ", ")
        damaged = f"Newer snapshots that are damaged or incomplete: {names}."
        cost = f"What was saved from {_exact(restoration.taken_at)} to {_exact(restoration.newest_at)} is not here."
        told.append(el("p.error", damaged, " ", cost))
    if restoration.put_aside:
        told.append(
            el("p.note", f"The file that was here before is kept beside it as {restoration.put_aside}.")
        )
    return told


def _row(place: PlaceState) -> list[Node | None]:
    trouble = f"since {_short(place.failed_at)}: {place.error}" if place.error else "none"
    window = f"{place.window:.1f} s (to be at most {place.limit or place.promised:g} s)"
    return [
        place.title,
        _exact(place.saved_at) or "nothing yet",
        el("span.error", window) if place.is_over else window,
        trouble,
    ]


def _exact(at: str) -> str:
    return at[:19].replace("T", " ")


def _short(at: str) -> str:
    return at[:16].replace("T", " ")
