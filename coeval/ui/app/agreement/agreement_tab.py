"""The Agreement tab: six sections of tiles, charts and tables, with links to the files behind them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from urllib.parse import quote

import gradio as gr

from coeval.domain import Person, Role
from coeval.extending import load_parts
from coeval.language import later, tr
from coeval.stats.basis import Basis, list_choices
from coeval.ui.app.agreement.figures import message, notes_view
from coeval.ui.app.agreement.sections import SECTIONS, Figure, Page, get_pages
from coeval.ui.components.theme import blank
from coeval.ui.components.view import Node, View, el
from coeval.ui.tabs import Event, StudyTab, TaskPicker, Update
from coeval.usecases.access import Context
from coeval.usecases.export import list_out_formats
from coeval.usecases.reports.report_process import load_libraries
from coeval.usecases.reports.statistics import get_reading, list_versions

# Links to the files of a task, relative to the page.


def task_file(slug: str, name: str) -> str:
    """
    >>> task_file("eli5", "scores.csv")
    'download/eli5/scores.csv'
    """
    return f"download/{quote(slug)}/{name}"


def with_links(slug: str, nodes: Sequence[Node | None]) -> list[Node]:
    """Return the nodes with each link to a bare file name completed to that file of the task."""
    return [_linked(slug, node) for node in nodes if node is not None]


def _linked(slug: str, node: Node) -> Node:
    if isinstance(node, str):
        return node
    attributes = dict(node["attributes"])
    href = attributes.get("href", "")
    if href.endswith(".csv") and "/" not in href:
        attributes["href"] = task_file(slug, href)
    return node | {"attributes": attributes, "children": with_links(slug, node["children"])}


def downloads_view(slug: str, figures: Sequence[Figure]) -> Node:
    """Return a closed section with the zip of a paper's files and links to the single files."""
    links = (
        el(
            "li",
            el("b", figure.title),
            el("span", " "),
            el("a", "Rows (CSV)", href=task_file(slug, figure.rows), download=""),
            el("p.note", figure.words),
        )
        for figure in figures
    )
    return el(
        "details.section",
        el("summary", "Paper files and downloads"),
        el(
            "div.card",
            el(
                "p.downloads",
                el(
                    "a.ghost.main",
                    "For the paper (zip)",
                    href=task_file(slug, "paper-tables.zip"),
                    download="",
                ),
                el("a.ghost", "All data (CSV, zip)", href=task_file(slug, "export.zip"), download=""),
                _other_tools_view(slug),
            ),
            el("p.note", "A methods paragraph, and tables as CSV, Markdown and LaTeX."),
            el("h4", "Descriptions of the charts") if figures else None,
            el("ul.chart-data", *links) if figures else None,
        ),
        id="agreement-paper",
    )


def _other_tools_view(slug: str) -> Node:
    """Return links to the formats of other tools; a page explains why a format cannot be built."""
    links = (
        el(
            "li",
            el("a", out.title, href=task_file(slug, f"as/{out.name}.zip")),
            el("p.note", out.summary),
        )
        for out in list_out_formats()
    )
    summary = el("summary.ghost", "For other tools")
    return el("details.other-tools", summary, el("ul.card", *links), id="agreement-others")


# The Agreement tab: six sections. Only the section that is shown is computed.

WARM_UP_SECONDS = 3.0
"""Seconds from the start to the warm-up: by then the server answers, but nobody has opened the tab yet."""

FIRST = next(iter(SECTIONS))
"""The section that is shown at first."""

NEWEST, COUNTED, LEFT_OUT = "0", "in", "out"
UNAIDED, ALL_ARMS = "unaided", "all"

SLOTS = ("full", "wide", "full")
"""The widths of the slots for charts, in order. The first chart of a section is always shown, the others under a
heading that opens. A slot keeps its width, because a chart is drawn for that width. The style sheet hides a slot
without a chart or under a closed heading. Gradio would remove a hidden slot from the page, and updates that arrive
while it is put back can be lost."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """The slot of one chart: its title, its drawing, and the line below it."""

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
    scope: View
    version: gr.Dropdown
    arm: gr.Dropdown
    again: gr.Dropdown
    downloads: View
    tiles: View
    slots: tuple[_Slot, ...]
    more: View
    tables: View

    def all(self) -> list[Any]:
        slots = [part for slot in self.slots for part in slot.all()]
        return [
            self.section,
            self.scope,
            *self.basis,
            self.tiles,
            *slots,
            self.more,
            self.tables,
            self.downloads,
        ]

    @property
    def basis(self) -> list[gr.Dropdown]:
        """Return the selection for the whole tab."""
        return [self.version, self.arm, self.again]


class AgreementTab(StudyTab):
    """The tab with the chosen section, shown in stages as its figures are computed."""

    title, id = later("Agreement"), "agreement"

    @classmethod
    def is_wanted(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether to show the tab: only people who run the study see figures."""
        return person.role is not Role.ANNOTATOR

    def build(self) -> None:
        self.parts = _build_parts()
        self.outputs = self.parts.all()
        self.boxes = [box(self.context, self.task) for box in load_parts("boxes", self.id)]
        warm_up_soon()

    def load_on(self, *events: Event) -> None:
        self.on(
            partial(
                gr.on, [*events, self.parts.section.input, *(choice.input for choice in self.parts.basis)]
            ),
            self.load,
            [self.parts.section, *self.parts.basis],
            show_progress="minimal",
            show_progress_on=self.parts.tiles,
            trigger_mode="always_last",
        )
        for box in self.boxes:
            box.on(partial(gr.on, events), box.load)

    def load(
        self, person: Person, slug: str, section: str = FIRST, version: str | None = NEWEST,
        arm: str | None = UNAIDED, again: str | None = LEFT_OUT,
    ) -> Iterator[Update]:  # fmt: skip
        yield from _states(self.context, self.parts, person, slug, section, (version, arm, again))


@cache
def warm_up_soon() -> None:
    """Load SciPy's modules once, some seconds from now, so that the first visitor need not wait."""
    timer = threading.Timer(WARM_UP_SECONDS, load_libraries, ["sparse", "special", "stats"])
    timer.daemon = True
    timer.start()


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
    scope = View(elem_id="agreement-scope")
    with gr.Row(elem_id="agreement-basis"):
        version, arm, again = (
            TaskPicker(
                [], label=label, container=False, visible=False, elem_id=f"agreement-{name}", interactive=True
            )
            for name, label in (
                ("version", "Criteria"),
                ("arm", "Scores"),
                ("again", "Asked again"),
            )
        )
    tiles = View(elem_id="agreement-tiles")
    # loads the drawing library while the first numbers are computed; the style sheet hides it
    gr.Plot(blank(), show_label=False, container=False, elem_id="agreement-drawing")
    with gr.Column(elem_id="agreement-charts", elem_classes="charts"):
        first = _build_slot(1, SLOTS[0])
        more = View(elem_id="agreement-more")
        others = [_build_slot(number, f"{width} more") for number, width in enumerate(SLOTS[1:], 2)]
    tables = View(elem_id="agreement-tables")
    downloads = View(elem_id="agreement-downloads")
    return _Parts(section, scope, version, arm, again, downloads, tiles, (first, *others), more, tables)


def _build_slot(number: int, width: str) -> _Slot:
    with gr.Column(elem_id=f"chart-{number}", elem_classes=["card", "chart", *width.split()]):
        head = View()
        plot = gr.Plot(show_label=False, container=False, elem_classes="drawing")
        foot = View()
    return _Slot(width.split()[0], head, plot, foot)


def _states(
    context: Context,
    parts: _Parts,
    person: Person,
    slug: str,
    section: str,
    held: Sequence[str | None] = (None, None, None),
) -> Iterator[Update]:
    """Yield the tab for this person, in stages; ``held`` contains the values of the three dropdowns.

    Every stage contains the charts of earlier stages, because a slow page shows only the last of several
    stages.
    """
    if person.role is Role.ANNOTATOR:
        yield _only(parts, _closed_view())
        return
    if not slug:
        yield _only(parts, message("There is no task yet", "An owner describes one in Set-up."))
        return
    drawn: dict[str, Update] = {}
    basis, choices, chosen = _offer_basis(context, parts, person, slug, section, held)
    for page in get_pages(context, person, slug, section, basis):
        update = _texts(parts, page, slug, section, basis) | choices
        update[parts.scope] = _scope_view(page.scope, chosen)
        if page.tiles and section == FIRST and person.role is Role.OWNER:
            update[parts.tiles].append(
                el("p", el("a", "Adjudicate disagreements", href=f"admin?task={quote(slug)}&tab=review"))
            )
        for slot, figure in _placed(parts.slots, page.figures):
            if figure is None:
                update |= _hidden(slot)
            else:
                if figure.name not in drawn:
                    drawn[figure.name] = _filled(slot, figure)
                update |= drawn[figure.name]
        yield update


def _offer_basis(
    context: Context,
    parts: _Parts,
    person: Person,
    slug: str,
    section: str,
    held: Sequence[str | None],
) -> tuple[Basis, Update, bool]:
    """Return the selection, its options, and whether to offer them; a single option is not offered.

    A value that its dropdown holds already is not sent: this answer may arrive after the next choice.
    """
    version, arm, again = held
    versions = list_versions(context, person, slug)
    newest = max(versions, default=0)
    chosen = int(version or 0) if int(version or 0) in versions[:-1] else 0
    there = get_reading(context, person, slug, version=chosen).get(list_choices)
    first = SECTIONS[section].unaided and there.unaided if section in SECTIONS else False
    basis = Basis(chosen, first and arm != ALL_ARMS, again == COUNTED and there.asked_again)
    numbered = [
        (f"Criteria version {n}{' (current)' if n == newest else ''}", "0" if n == newest else str(n))
        for n in versions
    ]
    arms = [("Without the draft", UNAIDED), ("All arms", ALL_ARMS)]
    further = [("Scores from asking again left out", LEFT_OUT), ("Scores from asking again counted", COUNTED)]
    options = [numbered[::-1], arms, further]
    values = [
        str(basis.version),
        ALL_ARMS if arm == ALL_ARMS else UNAIDED,
        COUNTED if basis.asked_again else LEFT_OUT,
    ]
    offers = len(numbered) > 1, first, there.asked_again
    update = {
        dropdown: gr.update(choices=shown, visible=offer, **({} if value == before else {"value": value}))
        for dropdown, shown, offer, value, before in zip(
            parts.basis, options, offers, values, held, strict=True
        )
    }
    return basis, update, any(offers)


def _placed(slots: Sequence[_Slot], figures: Sequence[Figure]) -> Iterator[tuple[_Slot, Figure | None]]:
    """Yield each slot with its chart or None: the first chart gets the first slot, the others the next slot
    of their width.
    """
    waiting = [figure for figure in figures if not figure.data.empty]
    for place, slot in enumerate(slots):
        fits = waiting and (place == 0 or waiting[0].width == slot.width)
        yield slot, waiting.pop(0) if fits else None


def _hidden(slot: _Slot) -> Update:
    return {slot.head: None, slot.plot: None, slot.foot: None}


def _texts(parts: _Parts, page: Page, slug: str, section: str, basis: Basis) -> Update:
    """Return everything except the charts. Parts that open keep their id, so the browser leaves them open."""
    tiles = el(
        "div.tiles",
        *page.tiles,
        data_section=section,
        data_whole="yes" if page.whole else "no",
    )
    drawn = [figure for figure in page.figures if not figure.data.empty]
    names = ", ".join(figure.title for figure in drawn[1:])
    cards = [table for table in (*page.tables, notes_view(page.notes)) if table is not None]
    return {
        parts.section: gr.Radio(visible=True),
        parts.downloads: downloads_view(slug, drawn) if page.tiles else None,
        parts.tiles: with_links(slug, [page.as_of, page.answer, page.banner, tiles]),
        parts.more: _heading("More charts", names, "agreement-more-open") if names else None,
        parts.tables: with_links(slug, [_tables_view(cards)] if cards else []),
    }


def _scope_view(scope: str, choices: bool) -> Node | None:
    """Return the line that names the scores in use; it opens to a choice of others, if there are any."""
    if not scope or not choices:
        return el("p.note.scope", f"Scores: {scope}") if scope else None
    return el("details.scope", el("summary", f"Scores: {scope}"), id="agreement-scope-open")


def _tables_view(cards: Sequence[Node]) -> Node:
    titles = [str(card["children"][0]["children"][0]) for card in cards if not isinstance(card, str)]
    heading = _heading("Tables", ", ".join(titles), "agreement-tables-open")
    return heading | {"children": [*heading["children"], el("div.cards", *cards)]}


def _heading(title: str, names: str, id: str) -> dict[str, Any]:
    return el("details.section", el("summary", title, el("span.names", names)), id=id)


def _filled(slot: _Slot, figure: Figure) -> Update:
    foot = el(
        "div.chart-foot",
        el("p.note", figure.note) if figure.note else None,
        el("p.note.basis", figure.basis) if figure.scoped else None,
    )
    return {slot.head: el("h4", figure.title), slot.plot: figure.draw(), slot.foot: foot}


def _only(parts: _Parts, words: Node) -> Update:
    """Return the tab with only a message."""
    hidden: Update = {slot.head: None for slot in parts.slots}
    hidden |= {choice: gr.Dropdown(visible=False) for choice in parts.basis}
    return {
        parts.section: gr.Radio(visible=False),
        parts.scope: None,
        parts.downloads: None,
        parts.tiles: words,
        parts.more: None,
        parts.tables: None,
    } | hidden


def _closed_view() -> Node:
    text = tr(
        "Owners and researchers see the statistics; annotators do not, so that their scores stay independent."
    )
    return message(tr("The team sees the statistics"), text)
