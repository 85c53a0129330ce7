"""The Agreement tab: six sections of tiles, charts and tables, of which only the one shown is computed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import gradio as gr

from coeval.domain import Person, Role
from coeval.language import later, tr
from coeval.stats import bootstrap_alpha
from coeval.stats.basis import ALL_ARMS, Basis, list_choices
from coeval.study.access import Context
from coeval.study.statistics import get_reading, list_versions
from coeval.ui.components.chart_style import blank
from coeval.ui.components.tasks_picker import TaskPicker
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Event, StudyTab, Update
from coeval.ui.study_app.agreement.agreement import forest_figure
from coeval.ui.study_app.agreement.figures import message, notes_view
from coeval.ui.study_app.agreement.links import chart_file, downloads_view, with_links
from coeval.ui.study_app.agreement.sections import SECTIONS, WHOLE, Figure, Page, get_pages

WARM_UP_SECONDS = 3.0
"""By then the server answers; nobody has found the tab yet."""

FIRST = next(iter(SECTIONS))
"""The section that is shown at first."""

NEWEST, COUNTED, LEFT_OUT = "0", "in", "out"

SLOTS = ("full", "wide", "narrow", "full")
"""The widths of the places for charts, in the order in which they stand. A place keeps its width, since a chart
is drawn for the width that it finds; wide and narrow stand beside each other. A place without a heading is
hidden by the style sheet: hidden by Gradio it would be taken out of the page, and what is sent while it is put
back can be lost."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """Room for one chart: its title, drawing, and the line below it."""

    width: str
    head: View
    plot: gr.Plot
    foot: View

    def all(self) -> list[Any]:
        return [self.head, self.plot, self.foot]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The components of the tab."""

    section: gr.Radio
    version: gr.Dropdown
    arm: gr.Dropdown
    planted: gr.Dropdown
    downloads: View
    tiles: View
    slots: tuple[_Slot, ...]
    tables: View

    def all(self) -> list[Any]:
        slots = [part for slot in self.slots for part in slot.all()]
        return [self.section, *self.basis, self.downloads, self.tiles, *slots, self.tables]

    @property
    def basis(self) -> list[gr.Dropdown]:
        """What is chosen for the whole tab."""
        return [self.version, self.arm, self.planted]


class AgreementTab(StudyTab):
    """The section chosen, in stages as its figures are computed."""

    title, id = later("Agreement"), "agreement"

    def build(self) -> None:
        self.parts = _build_parts()
        self.outputs = self.parts.all()
        warm_up_soon()

    def load_on(self, *events: Event) -> None:
        self.on(
            partial(gr.on, [*events, self.parts.section.input, *(one.input for one in self.parts.basis)]),
            self.load,
            [self.parts.section, *self.parts.basis],
            show_progress="minimal",
            show_progress_on=self.parts.tiles,
            trigger_mode="always_last",
        )

    def load(
        self, person: Person, slug: str, section: str = FIRST, version: str | None = NEWEST,
        arm: str | None = ALL_ARMS, planted: str | None = COUNTED,
    ) -> Iterator[Update]:  # fmt: skip
        basis = Basis(int(version or 0), arm or ALL_ARMS, planted != LEFT_OUT)
        yield from _states(self.context, self.parts, person, slug, section, basis)


@cache
def warm_up_soon() -> None:
    """Some seconds from now, once: have the libraries load that the first visitor would otherwise wait for."""
    timer = threading.Timer(WARM_UP_SECONDS, warm_up)
    timer.daemon = True
    timer.start()


def warm_up() -> None:
    """Compute an alpha and draw it, as the first section does."""
    alpha = bootstrap_alpha([[1, 2, 3, 4, 5] * 4, [1, 2, 3, 4, 4] * 4], replicates=20)
    forest_figure({"warm": alpha}).draw().to_json()


def _build_parts() -> _Parts:
    with gr.Row(elem_id="agreement-bar", elem_classes="agreement-bar"):
        choices = [(section.title, name) for name, section in SECTIONS.items()]
        section = gr.Radio(
            choices,
            value=FIRST,
            label="Section",
            show_label=False,
            container=False,
            elem_id="agreement-section",
            elem_classes="segmented",
        )
        downloads = View(elem_id="agreement-downloads")
    with gr.Row(elem_id="agreement-basis"):
        version, arm, planted = (
            TaskPicker(
                [], label=label, container=False, visible=False, elem_id=f"agreement-{name}", interactive=True
            )
            for name, label in (("version", "Criteria"), ("arm", "Scores"), ("planted", "Planted errors"))
        )
    tiles = View(elem_id="agreement-tiles")
    gr.Plot(blank(), visible="hidden")  # the drawing library loads while the first numbers are computed
    with gr.Column(elem_id="agreement-charts", elem_classes="charts"):
        slots = tuple(_build_slot(number, width) for number, width in enumerate(SLOTS, 1))
    tables = View(elem_id="agreement-tables")
    return _Parts(section, version, arm, planted, downloads, tiles, slots, tables)


def _build_slot(number: int, width: str) -> _Slot:
    with gr.Column(elem_id=f"chart-{number}", elem_classes=["card", "chart", width]):
        head = View()
        plot = gr.Plot(show_label=False, container=False, elem_classes="drawing")
        foot = View()
    return _Slot(width, head, plot, foot)


def _states(
    context: Context, parts: _Parts, person: Person, slug: str, section: str, basis: Basis = WHOLE
) -> Iterator[Update]:
    """The tab as this person may see it, in stages.

    Every stage holds the charts of those before it: a page that is slow takes the last of several stages alone.
    """
    if person.role is Role.ANNOTATOR:
        yield _only(parts, _closed_view())
        return
    if not slug:
        yield _only(parts, message("There is no task yet", "An owner describes one in Set-up."))
        return
    drawn: dict[str, Update] = {}
    basis, choices = _offer_basis(context, parts, person, slug, basis)
    for page in get_pages(context, person, slug, section, basis):
        update = _texts(parts, page, slug, section) | choices
        for slot, figure in _placed(parts.slots, page.figures):
            if figure is None:
                update |= _hidden(slot)
            else:
                if figure.name not in drawn:
                    drawn[figure.name] = _filled(slot, figure, slug, section, basis)
                update |= drawn[figure.name]
        yield update


def _offer_basis(
    context: Context, parts: _Parts, person: Person, slug: str, basis: Basis
) -> tuple[Basis, Update]:
    """What there is to choose from, and what is chosen of it; a choice of one is not offered."""
    versions = list_versions(context, person, slug)
    newest = max(versions, default=0)
    basis = replace(basis, version=basis.version if basis.version in versions[:-1] else 0)
    there = get_reading(context, person, slug, version=basis.version).get(list_choices)
    basis = replace(
        basis,
        arm=basis.arm if basis.arm in there.arms else ALL_ARMS,
        planted=basis.planted or not there.planted,
    )
    numbered = [
        (f"Criteria version {n}{' (current)' if n == newest else ''}", "0" if n == newest else str(n))
        for n in versions
    ]
    arms = [("All arms", ALL_ARMS), *((f"{arm.capitalize()} scores", arm) for arm in there.arms)]
    planted = [("Planted errors counted", COUNTED), ("Planted errors left out", LEFT_OUT)]
    chosen = COUNTED if basis.planted else LEFT_OUT
    return basis, {
        parts.version: gr.Dropdown(numbered[::-1], value=str(basis.version), visible=len(numbered) > 1),
        parts.arm: gr.Dropdown(arms, value=basis.arm, visible=len(arms) > 2),
        parts.planted: gr.Dropdown(planted, value=chosen, visible=there.planted),
    }


def _placed(slots: Sequence[_Slot], figures: Sequence[Figure]) -> Iterator[tuple[_Slot, Figure | None]]:
    """Each slot with its chart or None: charts keep their order, and each takes the next slot of its width."""
    waiting = list(figures)
    for slot in slots:
        yield slot, waiting.pop(0) if waiting and waiting[0].width == slot.width else None


def _hidden(slot: _Slot) -> Update:
    return {slot.head: None, slot.plot: None}


def _texts(parts: _Parts, page: Page, slug: str, section: str) -> Update:
    tiles = el("div.tiles", *page.tiles, data_section=section, data_whole="yes" if page.whole else "no")
    return {
        parts.section: gr.Radio(visible=True),
        parts.downloads: downloads_view(slug),
        parts.tiles: with_links(slug, [page.as_of, page.banner, tiles]),
        parts.tables: with_links(slug, [*page.tables, notes_view(page.notes)]),
    }


def _filled(slot: _Slot, figure: Figure, slug: str, section: str, basis: Basis) -> Update:
    foot = el(
        "div.chart-foot",
        el("p.note", figure.note) if figure.note else None,
        el("p.note.basis", figure.basis),
        el("details", el("summary", "In words"), el("p.note", figure.words)) if not figure.empty else None,
        el("a", "Data as CSV", href=chart_file(slug, section, figure.name, basis), download=""),
        el("a", "Rows", href=figure.rows, download="", title=f"The rows under it: {figure.rows}"),
    )
    title = el("h4", figure.title)
    if figure.empty:
        return {slot.head: [title, el("p.undrawn", figure.words)], slot.foot: with_links(slug, [foot])}
    return {slot.head: title, slot.plot: figure.draw(), slot.foot: with_links(slug, [foot])}


def _only(parts: _Parts, words: Node) -> Update:
    """The tab with nothing but a message."""
    hidden: Update = {slot.head: None for slot in parts.slots}
    hidden |= {one: gr.Dropdown(visible=False) for one in parts.basis}
    return {
        parts.section: gr.Radio(visible=False),
        parts.downloads: None,
        parts.tiles: words,
        parts.tables: None,
    } | hidden


def _closed_view() -> Node:
    text = tr(
        "Owners and researchers see the statistics; annotators do not, so that their scores stay their own."
    )
    return message(tr("The team sees the statistics"), text)
