"""Build the pages of tabs: the task picker, the events that call use cases, and the owners' alert.

A ``Panel`` lays out its components and connects its events in ``build``. A ``Tab`` is a panel with a title. A ``Page``
lists its tabs and fills each from ``load``.
"""

from __future__ import annotations

import html
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, ClassVar

import gradio as gr

from coeval.domain import Person, Role, Task
from coeval.errors import CoevalError, InputError, NotAllowedError, NotFoundError
from coeval.language import SOURCE, get_spoken, speaking, tr
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person, shown
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.hosting.replication import get_alert
from coeval.usecases.tasks import get_language

UNFILLED = "(loading)"
"""The picker's value until it is filled; no short name has brackets."""


class TaskPicker(gr.Dropdown):
    """A dropdown of tasks by short name: None if no task is chosen, ``UNFILLED`` at first.

    Gradio refuses a value that is not among the choices that it remembers for a page. Before the page has loaded and
    after a restart of the server, it remembers none. Use cases check whether the task exists.
    """

    def get_block_name(self) -> str:
        return "dropdown"

    def preprocess(self, payload: str | int | float | list[str | int | float] | None) -> str | None:
        return payload if isinstance(payload, str) else None


def task_choices(context: Context, person: Person, chosen: str | None = None) -> gr.Dropdown:
    """Return the picker with every task; ``chosen`` is selected if it exists, else the first."""
    listed = tasks.list_tasks(context, person)
    return gr.Dropdown(_names(listed), value=_choose(listed, chosen), label=tr("Task"))


def newest_choices(context: Context, person: Person) -> gr.Dropdown:
    """Return the picker with every task, including new ones; the selection stays."""
    return gr.Dropdown(_names(tasks.list_tasks(context, person)))


def first_task(context: Context, person: Person, request: gr.Request) -> str:
    """Return the initial task of a page: the one in its address, or else the first; "" if there is none."""
    return _choose(tasks.list_tasks(context, person), request.query_params.get("task")) or ""


def _names(listed: list[Task]) -> list[tuple[str, str]]:
    return [(task.name, task.slug) for task in listed]


def _choose(listed: list[Task], slug: str | None) -> str | None:
    """Return that task, else the first task of a team, else the first example."""
    if slug in {task.slug for task in listed}:
        return slug
    own_first = sorted(listed, key=lambda task: bool(task.origin))
    return next((task.slug for task in own_first), None)


# Common parts of all pages: events that call use cases, messages of refusals, and loading.

Event = Callable[..., Any]
"""A Gradio event to listen to: ``button.click``, ``tab.select``, ``task.input``."""

Update = dict[Any, Any]
"""Components with their new values."""

QUICK: dict[str, Any] = {"concurrency_limit": None, "api_visibility": "private", "show_progress": "hidden"}
"""Settings for events that only read or write our own file, without progress display or error overlay."""

MODEL: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "model", "api_visibility": "private"}
"""Settings for events that wait for a model."""


KEEP_TASK = """(slug) => {
  const address = new URL(location.href);
  if (slug) address.searchParams.set('task', slug); else address.searchParams.delete('task');
  history.replaceState(history.state, '', address);
}"""
"""Writes the chosen task into the address."""

SAME = "(same)"
"""The value of the picker's ``input`` if nobody chose another task."""

IF_CHOSEN = f"(slug) => slug && slug !== window.coevalBefore ? slug : '{SAME}'"
"""Gradio's dropdown reports an input whenever it loses focus; only another task is a choice (see main.js)."""

KEEP_TAB = """() => {{
  if (!window.coevalStarted) return;
  const address = new URL(location.href);
  address.searchParams.set('tab', '{tab}');
  history.replaceState(history.state, '', address);
}}"""
"""Writes the chosen tab into the address. A tab opens by itself before the server has read the address."""

STARTED = "() => { window.coevalStarted = true; delete document.documentElement.dataset.opening; }"


def tell_done(text: str) -> None:
    """Show a short notice of the completed action. It may contain text that people typed."""
    gr.Info(html.escape(text))


@contextmanager
def shown_refusals() -> Iterator[None]:
    """Show our errors as messages of the page."""
    try:
        yield
    except CoevalError as error:
        raise shown(error) from error


class Panel(ABC):
    """A part of a page with its own events; ``task`` is the picker in the page's top bar."""

    def __init__(self, context: Context, task: gr.Dropdown) -> None:
        self.context, self.task = context, task
        self.outputs: list[Any] = []
        """The default outputs of its events."""
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Build the components, and connect their events with ``on``."""

    def on(
        self,
        event: Event,
        handler: Callable[..., Any],
        inputs: Sequence[Any] = (),
        outputs: Any = None,
        *,
        quiet: bool = False,
        **options: Any,
    ) -> Any:
        """Let an event call ``handler(person, slug, *values of inputs)``.

        ``slug`` is the task shown, "" if there is none. ``options`` are Gradio's and override ``QUICK``. The page shows
        our errors as messages; with ``quiet``, for a clock's ticks, it shows none. Returns Gradio's dependency, so that
        ``.then`` can follow.
        """
        filled = self.outputs if outputs is None else outputs
        asking = self._asking_quietly(handler) if quiet else self._asking(handler)
        return event(asking, [self.task, *inputs], filled, **{**QUICK, **options})

    def on_task(self, event: Event, handler: Callable[[Person, str], Any], outputs: Any = None) -> None:
        """Let the picker's ``input`` call ``handler(person, slug)`` after another task is chosen."""

        def chosen(person: Person, slug: str) -> Any:
            return gr.skip() if slug == SAME else handler(person, slug)

        self.on(event, chosen, outputs=outputs, js=IF_CHOSEN)

    def pick(self, person: Person, slug: str | None, request: gr.Request) -> str:
        """Return the task of an event; before the picker is filled, the task that it will show."""
        return first_task(self.context, person, request) if slug == UNFILLED else slug or ""

    @contextmanager
    def speaking(self, request: gr.Request, slug: str | None) -> Iterator[tuple[Person, str]]:
        """Provide the person, the task and the language of an event."""
        person = get_person(self.context, request)
        picked = self.pick(person, slug, request)
        with speaking(get_language(self.context, picked, person)):
            yield person, picked

    def _asking_quietly(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        def asking(request: gr.Request, slug: str | None, *values: Any) -> Any:
            try:
                with self.speaking(request, slug) as who:
                    # Gradio takes an empty update for the value of the first output
                    return handler(*who, *values) or gr.skip()
            except CoevalError:
                return gr.skip()

        return asking

    def _asking(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function for Gradio, which is a coroutine function or a generator if the handler is one."""

        def asking(request: gr.Request, slug: str | None, *values: Any) -> Any:
            with shown_refusals(), self.speaking(request, slug) as who, shown_refusals():
                return handler(*who, *values)

        async def asking_long(request: gr.Request, slug: str | None, *values: Any) -> Any:
            with shown_refusals(), self.speaking(request, slug) as who, shown_refusals():
                return await handler(*who, *values)

        def asking_in_stages(request: gr.Request, slug: str | None, *values: Any) -> Iterator[Any]:
            with shown_refusals(), self.speaking(request, slug) as who:
                stages = handler(*who, *values)
            while True:  # every stage runs in its own context
                with shown_refusals(), self.speaking(request, slug), shown_refusals():
                    try:
                        stage = next(stages)
                    except StopIteration:
                        return
                yield stage

        if inspect.iscoroutinefunction(handler):
            return asking_long
        return asking_in_stages if inspect.isgeneratorfunction(handler) else asking


class LoadedPanel(Panel):
    """A box on a tab, which the tab loads when it opens."""

    @abstractmethod
    def load(self, person: Person, slug: str) -> Update:
        """Return the values of ``outputs`` for a task, or for no task if ``slug`` is ""."""


class PageGroup(StrEnum):
    """The groups of Set-up's side bar, in their order."""

    STUDY = "Study"
    PEOPLE = "People"
    MORE = "More"


class Tab(Panel):
    """A tab of a page."""

    title: ClassVar[str]
    id: ClassVar[str]
    """Its name in the page and in the address (``?tab=``)."""

    group: ClassVar[PageGroup] = PageGroup.STUDY
    """Its heading in the side bar of Set-up."""

    purpose: ClassVar[str] = ""
    """For a tool, the sentence on More tools. A tool is listed only if the study uses it or an owner turned it on."""

    wanted_after: Sequence[Event] = ()
    """Events after which other tabs may appear or disappear."""

    @classmethod
    def is_wanted(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether the page lists the tab for this person and task."""
        return True

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether the study already uses this tool, so that it needs no turning on."""
        return False

    @abstractmethod
    def load(self, person: Person, slug: str) -> Any:
        """Return the values of ``outputs`` for a task, or for no task if ``slug`` is ""."""

    followed_with: Sequence[Any] = ()
    """Components whose values ``follow`` gets."""

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        """Return what changed since the page was loaded, but nothing that a person may be editing."""
        return {}

    def load_on(self, opened: Event, *chosen: Event) -> None:
        """Load the tab when it opens, and when another task is chosen."""
        self.on(opened, self.load)
        for event in chosen:
            self.on_task(event, self.load)


class StudyTab(Tab):
    """A tab of the study app; a page opened before there was a task shows the first new task."""

    def pick(self, person: Person, slug: str | None, request: gr.Request) -> str:
        return super().pick(person, slug or UNFILLED, request)


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
                event(self._on_wanted, self.task, doors, **QUICK)
        self.task.change(self._on_task, self.task, self.me, **QUICK)
        if self.grouped:
            self.task.change(self._on_wanted, self.task, doors, **QUICK)
        self.task.focus(self._on_focus, None, self.task, **QUICK)

    def _follow(self, built: Sequence[tuple[Tab, gr.Tab]], doors: list[gr.Tab]) -> None:
        """Let the page follow the state of the study: static/core/follow.js presses these buttons."""
        page = gr.Button("Follow", elem_id="follow-page", elem_classes="following")
        page.click(self._on_follow, self.task, [self.me, *doors], **QUICK)
        for tab, _ in built:
            if type(tab).follow is not Tab.follow:
                button = gr.Button("Follow", elem_id=f"follow-{tab.id}", elem_classes="following")
                tab.on(button.click, tab.follow, tab.followed_with, quiet=True)

    def _on_follow(self, slug: str | None, request: gr.Request) -> list[Any]:
        return [self._on_task(slug, request), *self._on_wanted(slug, request)]

    def _build_tab(self, kind: type[Tab]) -> tuple[Tab, gr.Tab]:
        # a tab that is not always listed waits until the page has loaded
        asks = self.grouped and _asks(kind)
        first = None if _asks(kind) else "opens-first"  # an address may open it at once
        with gr.Tab(kind.title, id=kind.id, visible=not asks, elem_classes=first) as door:
            if self.grouped:
                View(el("h1", kind.title), elem_classes="page-title")
            tab = kind(self.context, self.task)
        door.select(None, js=KEEP_TAB.format(tab=kind.id))
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

    def _on_wanted(self, slug: str | None, request: gr.Request) -> list[Any]:
        with shown_refusals():
            person = get_person(self.context, request)
            slug = slug if slug and slug != UNFILLED else ""
            wanted = self._list_wanted(person, slug, request)
            with speaking(get_language(self.context, slug, person)):
                return self._update_doors(wanted)

    def _on_focus(self, request: gr.Request) -> gr.Dropdown:
        with shown_refusals():
            return newest_choices(self.context, get_person(self.context, request))

    def _on_task(self, slug: str | None, request: gr.Request) -> list[Node | None]:
        with shown_refusals():
            person = get_person(self.context, request)
            with speaking(get_language(self.context, slug or "", person)):
                return [
                    *self._corner(person, slug or ""),
                    self._unlisted(self._list_wanted(person, slug or "", request)),
                ]


def _asks(kind: type[Tab]) -> bool:
    """Return whether a tab is not always listed."""
    return bool(kind.purpose) or kind.is_wanted.__func__ is not Tab.is_wanted.__func__  # type: ignore[attr-defined]


def list_turned_on(context: Context, person: Person, slug: str) -> frozenset[str]:
    """Return the tools that an owner turned on for a task; annotators see only tools in use."""
    if not slug or person.role is Role.ANNOTATOR:
        return frozenset()
    try:
        return tasks.list_tools(context, person, slug)
    except (NotAllowedError, NotFoundError):
        return frozenset()


def more_settings(elem_id: str, title: str = "More settings") -> gr.Accordion:
    """Return a closed section with settings that few studies need."""
    return gr.Accordion(title, open=False, elem_id=elem_id, elem_classes="more")


def need_task(slug: str) -> str:
    """Return the task's short name.

    Raises:
        InputError: there is no task.
    """
    if not slug:
        raise InputError("There is no task yet: describe one in Set-up, under Tasks, then try again.")
    return slug


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
