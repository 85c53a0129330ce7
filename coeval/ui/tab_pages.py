"""A page of tabs: the bar with the task picker and the owners' alert, and which tabs are listed."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gradio as gr

from coeval.domain import Person, Role
from coeval.errors import NotAllowedError, NotFoundError
from coeval.language import SOURCE, get_spoken, speaking, tr
from coeval.ui.components.view import Follower, Node, View, el
from coeval.ui.server.identity import get_person
from coeval.ui.tabs import (
    DIRECT,
    QUICK,
    UNFILLED,
    Event,
    PageGroup,
    Panel,
    Tab,
    TaskPicker,
    first_task,
    list_turned_on,
    shown_refusals,
    task_choices,
)
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.hosting.replication import get_alert
from coeval.usecases.tasks import get_language

KEEP_TASK = """(slug) => {
  const address = new URL(location.href);
  if (slug) address.searchParams.set('task', slug); else address.searchParams.delete('task');
  history.replaceState(history.state, '', address);
}"""
"""Writes the chosen task into the address."""

OPEN_TAB = """() => {{
  const shown = (window.coevalWaiting?.['{tab}'] ?? []).map(() => ({{__type__: 'update', visible: true}}));
  if (shown.length) delete window.coevalWaiting['{tab}'];
  if (!window.coevalStarted) return shown;
  const address = new URL(location.href);
  address.searchParams.set('tab', '{tab}');
  history.replaceState(history.state, '', address);
  return shown;
}}"""
"""Shows the fields that wait for a tab, and writes the tab into the address. A tab opens by itself before the server
has read the address.
"""

EVERYWHERE = {"html", "row", "column", "form", "dropdown", "tabs", "tabitem"}
"""The kinds of components that every page shows at once."""

STARTED = "() => { window.coevalStarted = true; delete document.documentElement.dataset.opening; }"

EVERY_SECONDS = 15.0


class Alert(Panel):
    """A warning for owners, updated regularly; empty if there is none."""

    def build(self) -> None:
        self.told = View(elem_id="alert")
        self.clock = gr.Timer(EVERY_SECONDS, active=False)
        self.outputs = [self.told, self.clock]
        self.on(self.clock.tick, self.tell, outputs=self.told, quiet=True)

    def start(self, person: Person) -> list[Any]:
        """Return the first values of the outputs."""
        owner = person.role is Role.OWNER
        return [self.tell(person) if owner else "", gr.Timer(active=owner)]

    def tell(self, person: Person, slug: str = "") -> Node:
        alert = get_alert(self.context, person)
        return el("p.alert", alert, role="alert") if alert else ""


class Page:
    """The task picker in the top bar, and the tabs of a page. A reload keeps both, because they are in the address.

    Inside a Blocks, ``build_bar`` lays out the bar, with ``brand`` on the left and ``corner(person, slug)`` on the
    right. Then ``build_tabs`` lays out the tabs. If they are ``grouped``, a side bar lists them, and each page
    has its own heading.
    """

    def __init__(self, context: Context, kinds: Sequence[type[Tab]], *, grouped: bool = False) -> None:
        order = list(PageGroup)
        self.context, self.grouped = context, grouped
        self.kinds = sorted(kinds, key=lambda kind: order.index(kind.group)) if grouped else list(kinds)

    def build_bar(self, brand: str, corner: Callable[[Person, str], Node]) -> gr.Dropdown:
        """Build the bar and return its task picker."""
        self.corner = corner
        with gr.Row(elem_id="top-bar"):
            View(el("strong" if self.grouped else "h1", brand), elem_id="brand")
            self.task: gr.Dropdown = TaskPicker(
                [("", UNFILLED)], value=UNFILLED, label="Task", show_label=False, container=False,
                elem_id="task-picker", interactive=True,
            )  # fmt: skip
            self.me = View(elem_id="me")
        # comes before the picker's other events, because Gradio runs the events of a trigger one after another
        self.task.change(None, self.task, js=KEEP_TASK)
        self.alert = Alert(self.context, self.task)
        return self.task

    def build_tabs(self, demo: gr.Blocks, *changes: Event) -> None:
        """Build the tabs: each loads when it opens and on ``changes``."""
        if self.grouped:
            groups = ",".join(f"{kind.id}:{kind.group}" for kind in self.kinds)
            View(el("div", data_groups=groups), elem_id="groups")
        look: dict[str, Any] = (
            {"elem_classes": "sidebar", "overflow_behavior": "wrap"} if self.grouped else {}
        )
        with gr.Tabs(elem_id="tabs", **look) as tabs:
            built = [self._build_tab(kind) for kind in self.kinds]
        doors = [door for _, door in built]
        filled = [self.task, self.me, *self.alert.outputs, tabs, *doors]
        start = demo.load(self._on_load, outputs=filled, **QUICK)
        start.then(None, js=STARTED)
        self._follow(built, doors)
        for tab, door in built:
            tab.load_on(door.select, *changes)
            for event in tab.wanted_after:
                event(self._on_wanted, self.task, doors, **QUICK, **DIRECT)
        if self.grouped:  # Another task loads the study's page again; Set-up stays.
            self.task.change(self._on_follow, self.task, [self.me, *doors], **QUICK, **DIRECT)
        self.task.focus(self._on_focus, None, self.task, **QUICK, **DIRECT)

    def _follow(self, built: Sequence[tuple[Tab, gr.Tab]], doors: list[gr.Tab]) -> None:
        """Build the followers that static/core/follow.js calls when the study changes."""
        page = Follower(elem_id="follow-page")
        page.submit(self._on_follow, self.task, [self.me, *doors], **QUICK, **DIRECT)
        for tab, _ in built:
            if type(tab).follow is not Tab.follow:
                follower = Follower(elem_id=f"follow-{tab.id}")
                tab.on(follower.submit, tab.follow, tab.followed_with, quiet=True)

    def _on_follow(self, slug: str | None, request: gr.Request) -> list[Any]:
        with self._following(slug, request) as (person, slug, wanted):
            return [[*self._corner(person, slug), self._unlisted(wanted)], *self._update_doors(wanted)]

    def _on_wanted(self, slug: str | None, request: gr.Request) -> list[Any]:
        with self._following(slug, request) as (_, _, wanted):
            return self._update_doors(wanted)

    @contextmanager
    def _following(self, slug: str | None, request: gr.Request) -> Iterator[tuple[Person, str, set[str]]]:
        """Yield the person, the task and its listed tabs, in the language of the task."""
        with shown_refusals():
            person = get_person(self.context, request)
            slug = slug if slug and slug != UNFILLED else ""
            with speaking(get_language(self.context, slug, person)):
                yield person, slug, self._list_wanted(person, slug, request)

    def _build_tab(self, kind: type[Tab]) -> tuple[Tab, gr.Tab]:
        # a tab that is not always listed waits until the page has loaded
        asks = self.grouped and _asks(kind)
        first = None if _asks(kind) else "opens-first"  # an address may open it at once
        with gr.Tab(kind.title, id=kind.id, visible=not asks, elem_classes=first) as door:
            if self.grouped:
                View(el("h1", kind.title), elem_classes="page-title")
            tab = kind(self.context, self.task)
        waiting = [
            part for part in _parts(door) if part.visible is True and part.get_block_name() not in EVERYWHERE
        ]
        # the first page is without them, see FirstPage: Gradio would load the scripts of closed tabs
        door.select(None, None, waiting, js=OPEN_TAB.format(tab=kind.id))
        return tab, door

    def _on_load(self, request: gr.Request) -> list[Any]:
        with shown_refusals():
            person = get_person(self.context, request)
            slug = first_task(self.context, person, request)
            wanted = self._list_wanted(person, slug, request)
            self._tell_unknown(person, slug, request)
            tab = request.query_params.get("tab")
            if tab not in wanted:
                tab = next(kind.id for kind in self.kinds if kind.id in wanted)
            # to open a tab again would load it twice
            listed = {kind.id for kind in self.kinds if not _asks(kind)}
            is_open = tab == self.kinds[0].id or (tab in listed and tab == request.query_params.get("tab"))
            opened = gr.skip() if is_open else gr.Tabs(selected=tab)
            with speaking(get_language(self.context, slug, person)):
                picker = task_choices(self.context, person, slug)
                corner = [*self._corner(person, slug), self._unlisted(wanted)]
                return [picker, corner, *self.alert.start(person), opened, *self._update_doors(wanted)]

    def _corner(self, person: Person, slug: str) -> list[Node]:
        """Return the corner, with the revision of the study that the page shows."""
        try:
            revision = tasks.get_revision(self.context, person, slug) if slug else ""
        except NotFoundError:
            revision = ""
        return [self.corner(person, slug), el("span", data_revision=revision)]

    def _unlisted(self, wanted: set[str]) -> Node | None:
        """Return the unlisted tabs for the browser: Gradio keeps listing tabs that were built visible."""
        if self.grouped:  # here, tabs that are not always listed are built invisible
            return None
        return el("span", data_unlisted=" ".join(kind.id for kind in self.kinds if kind.id not in wanted))

    def _tell_unknown(self, person: Person, slug: str, request: gr.Request) -> None:
        """Warn about an address with a task that this person does not have."""
        asked = request.query_params.get("task")
        if asked and asked != slug:
            with speaking(get_language(self.context, slug, person)):
                told = tr(
                    "You cannot open the task “{task}”: it may be archived, or you may not be assigned to it.",
                    task=asked[:100],
                )
            gr.Warning(html.escape(told))

    def _list_wanted(self, person: Person, slug: str, request: gr.Request) -> set[str]:
        turned_on = list_turned_on(self.context, person, slug)
        if person.role is not Role.ANNOTATOR and (tab := request.query_params.get("tab")):
            turned_on |= {tab}  # a link leads to a tool even before the study uses it
        return {kind.id for kind in self.kinds if self._is_wanted(kind, person, slug, turned_on)}

    def _is_wanted(self, kind: type[Tab], person: Person, slug: str, turned_on: frozenset[str]) -> bool:
        try:
            if not kind.is_wanted(self.context, person, slug):
                return False
            return not kind.purpose or kind.id in turned_on or kind.is_used(self.context, person, slug)
        except (NotAllowedError, NotFoundError):  # the task belongs to a crowd or to other people
            return False

    def _update_doors(self, wanted: set[str]) -> list[Any]:
        """Return the listed tabs, with translated titles if the language is not English."""
        named = get_spoken().code != SOURCE
        doors = []
        for kind in self.kinds:
            look: dict[str, Any] = {"label": tr(kind.title)} if named else {}
            if _asks(kind):
                look["visible"] = kind.id in wanted
            doors.append(gr.Tab(**look) if look else gr.skip())
        return doors

    def _on_focus(self, request: gr.Request) -> gr.Dropdown:
        with shown_refusals():
            person = get_person(self.context, request)
            return gr.Dropdown([(task.name, task.slug) for task in tasks.list_tasks(self.context, person)])


def _parts(place: Any) -> Iterator[Any]:
    """Return all components in a tab or a layout."""
    for part in getattr(place, "children", ()):
        yield part
        yield from _parts(part)


def _asks(kind: type[Tab]) -> bool:
    """Return whether a tab is not always listed."""
    return bool(kind.purpose) or kind.is_wanted.__func__ is not Tab.is_wanted.__func__  # type: ignore[attr-defined]
