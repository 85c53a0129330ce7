"""The Hosting page of Set-up: database snapshots, moving studies, and allowed image hosts."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.domain.studies import Restoration
from coeval.extending import load_parts
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.tabs import LoadedPanel, PageGroup, Tab, Update, more_settings, tell_done
from coeval.usecases.access import Context
from coeval.usecases.hosting import replication
from coeval.usecases.hosting.replica import PlaceState
from coeval.usecases.hosting.replication import SnapshotState
from coeval.usecases.images import list_image_hosts, set_image_hosts

ABOUT = (
    "A column of images holds https addresses or data: URIs. Addresses are shown only from the hosts listed here: "
    "the operator of a host sees who opens an image, and when. Images inside the file need no host."
)


class ImagesBox(LoadedPanel):
    """The box with the image hosts of this server, for all tasks."""

    def build(self) -> None:
        with more_settings("image-hosts-box", "Images"):
            View(el("p.note", ABOUT))
            self.hosts = gr.Textbox(
                label="Allowed image hosts, one per line",
                info="For example images.example.org, or *.example.org for all its subdomains. Reload open "
                "pages to show the images.",
                lines=2,
                max_length=10_000,
                interactive=False,  # only until it is filled in, so that typed text is not overwritten
                elem_id="image-hosts",
            )
            with gr.Row(elem_classes="actions"):
                save = gr.Button("Save the hosts", elem_id="image-hosts-save", scale=0, min_width=180)
        self.outputs = [self.hosts]
        self.on(save.click, self.on_save, [self.hosts])

    def load(self, person: Person, slug: str) -> Update:
        hosts = "\n".join(list_image_hosts(self.context, person))
        return {self.hosts: gr.Textbox(hosts, interactive=True)}

    def on_save(self, person: Person, slug: str, names: str | None) -> Update:
        hosts = set_image_hosts(self.context, person, names or "")
        tell_done(f"Images may come from {plural(len(hosts), 'host')}.")
        return {self.hosts: "\n".join(hosts)}


# Set-up, Hosting: snapshots of the file, and studies that move between files.

LAST_CHANGES = (
    "If this machine is lost, the changes made during that wait are lost here. Browsers keep the answers among them, "
    "and send them again once their people have signed in."
)


class HostingTab(Tab):
    """The tab for snapshots of the file, moving and publishing studies, and image hosts."""

    title, id = "Hosting", "hosting"
    group = PageGroup.MORE
    purpose = (
        "Keeps snapshots, moves a study, and connects to the Hugging Face Hub, hosts of images, and agents."
    )

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether this server keeps snapshots."""
        snapshots = context.settings.snapshots
        return bool(snapshots.folder or snapshots.repo)

    def build(self) -> None:
        self.kept = View(elem_id="snapshots")
        with gr.Row(elem_classes="actions"):
            take = gr.Button(
                "Take a snapshot now", variant="primary", elem_id="snapshot-take", scale=0, min_width=220
            )
        self.on(take.click, self.on_take, outputs=[self.kept])
        kinds = [*load_parts("boxes", "hosting"), ImagesBox]
        self.boxes: list[LoadedPanel] = [kind(self.context, self.task) for kind in kinds]
        self.outputs = [self.kept, *(output for box in self.boxes for output in box.outputs)]

    def load(self, person: Person, slug: str) -> Update:
        loaded: dict[Any, Any] = {self.kept: _view(replication.get_snapshots(self.context, person))}
        for box in self.boxes:
            loaded |= box.load(person, slug)
        return loaded

    def on_take(self, person: Person, slug: str) -> Update:
        return {self.kept: _view(replication.take_snapshot(self.context, person))}


def _view(state: SnapshotState) -> Node:
    if not state.places:
        return el(
            "div.card",
            el("h4", "Snapshots"),
            el("p", "No place for snapshots is set: the data is only on this server's disk."),
            el("p.note", "Set COEVAL_SNAPSHOT_DIR to a folder, or COEVAL_SNAPSHOT_REPO and HF_TOKEN."),
            *_restorations(state),
        )
    head = ["Snapshot place", "All changes up to (UTC)", "Longest wait of a change, last hour", "Problem"]
    others = sorted({lineage for place in state.places for lineage in place.lineages})
    return el(
        "div.card",
        el("h4", "Snapshots"),
        el("p.error", state.lost) if state.lost else "",
        table(head, [_row(place) for place in state.places]),
        el("p.note", LAST_CHANGES, f" The lineage of this study is {state.lineage}."),
        *[
            el("p", f"A place also holds snapshots of {name}, which are kept but not used. "
               f"To continue that study, start once with no database and --restore {name}.")
            for name in others
        ],
        *_restorations(state),
    )  # fmt: skip


def _restorations(state: SnapshotState) -> list[Node]:
    return [part for restoration in state.restorations for part in _tell(restoration)]


def _tell(restoration: Restoration) -> list[Node]:
    """Return the result of a restoration and its losses."""
    back = (
        f"This file was restored from {restoration.name} ({restoration.source}) at "
        f"{_short(restoration.restored_at)}."
    )
    lost = f"Work saved after {_exact(restoration.taken_at)} that had not reached the place is missing."
    told: list[Node] = [el("p", f"{back} {lost}")]
    if restoration.passed_over:
        names = restoration.passed_over.replace("\n", ", ")
        damaged = f"Newer snapshots that are damaged or incomplete: {names}."
        cost = (
            f"Work saved from {_exact(restoration.taken_at)} to {_exact(restoration.newest_at)} is missing."
        )
        told.append(el("p.error", damaged, " ", cost))
    if restoration.put_aside:
        told.append(el("p.note", f"The earlier file is kept beside it as {restoration.put_aside}."))
    return told


def _row(place: PlaceState) -> list[Node | None]:
    trouble = f"since {_short(place.failed_at)}: {place.error}" if place.error else "none"
    window = f"{place.window:.1f} s (goal: {place.promised:g} s)"
    return [place.title, _exact(place.saved_at) or "nothing yet", window, trouble]


def _exact(at: str) -> str:
    return at[:19].replace("T", " ")


def _short(at: str) -> str:
    return at[:16].replace("T", " ")
