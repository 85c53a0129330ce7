"""What every tab shares: the task picker, forms of stored values, and the events that call use cases.

A ``Panel`` lays out its components and connects its events in ``build``. A ``Tab`` is a panel with a title.
``tab_pages.py`` lists the tabs of a page and fills each from ``load``.
"""

from __future__ import annotations

import html
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import gradio as gr
from starlette.requests import Request

from coeval.domain import Person, Role, Task
from coeval.errors import CoevalError, InputError, NotAllowedError, NotFoundError
from coeval.language import speaking, tr
from coeval.ui.server.identity import get_person, shown
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.tasks import get_language

Convert = Callable[[Any], Any]


@dataclass(slots=True)
class Form:
    """Components by the names of a stored value's attributes; ``form[name] = component`` declares one.

    An event has ``inputs`` as inputs, and its handler passes their values to ``read``. By default, an empty field is
    read as False, 0, () or "", which depends on its kind. ``reads`` and ``shows`` are other conversions, by name.
    """

    reads: dict[str, Convert] = field(default_factory=dict)
    shows: dict[str, Convert] = field(default_factory=dict)
    components: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.components[name]

    def __setitem__(self, name: str, component: Any) -> None:
        self.components[name] = component

    @property
    def inputs(self) -> list[Any]:
        """Return the components."""
        return list(self.components.values())

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return the attributes by name from the values of ``inputs``."""
        return {name: self._read(name, value) for name, value in zip(self.components, values, strict=True)}

    def show(self, stored: object, names: Collection[str] = ()) -> dict[Any, Any]:
        """Return the components with the attributes of a stored value: those in ``names``, or all."""
        shown = names or self.components
        return {self.components[name]: self._show(name, getattr(stored, name)) for name in shown}

    def _read(self, name: str, value: Any) -> Any:
        component = self.components[name]
        if name in self.reads:
            return self.reads[name](value)
        if isinstance(component, gr.Checkbox):
            return bool(value)
        if isinstance(component, gr.Number | gr.Slider):
            return int(value or 0) if getattr(component, "precision", None) == 0 else float(value or 0)
        if isinstance(component, gr.CheckboxGroup) or getattr(component, "multiselect", False):
            return tuple(value or ())
        return value or ""

    def _show(self, name: str, value: Any) -> Any:
        component = self.components[name]
        if name in self.shows:
            return self.shows[name](value)
        if isinstance(component, gr.Number):
            return value or 0
        if isinstance(component, gr.Textbox):
            return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        return value


def read_line(text: str | None) -> str:
    """Return a text without the spaces around it.

    >>> read_line(" gpt "), read_line(None)
    ('gpt', '')
    """
    return (text or "").strip()


def read_count(value: float | None) -> int | None:
    """Return a whole number; None if the field is empty or 0.

    >>> read_count(3.0), read_count(0)
    (3, None)
    """
    return int(value) if value else None


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
    names = [(task.name, task.slug) for task in listed]
    return gr.Dropdown(names, value=_choose(listed, chosen), label=tr("Task"))


def first_task(context: Context, person: Person, request: gr.Request | Request) -> str:
    """Return the initial task of a page: the one in its address, or else the first; "" if there is none."""
    return _choose(tasks.list_tasks(context, person), request.query_params.get("task")) or ""


def _choose(listed: list[Task], slug: str | None) -> str | None:
    """Return that task, else the first task of a team, else the first example."""
    if slug in {task.slug for task in listed}:
        return slug
    own_first = sorted(listed, key=lambda task: bool(task.origin))
    return next((task.slug for task in own_first), None)


Event = Callable[..., Any]
"""A Gradio event to listen to: ``button.click``, ``tab.select``, ``task.input``."""

Update = dict[Any, Any]
"""Components with their new values."""

QUICK: dict[str, Any] = {"concurrency_limit": None, "api_visibility": "private", "show_progress": "hidden"}
"""Settings for events that only read or write our own file, without progress display or error overlay."""

DIRECT: dict[str, Any] = {"queue": False}
"""Settings for events whose answer is that of one request, without notices or stages. A queued event takes two, and
Gradio's page loses the second one's answer if the server ends the stream of answers just before it joins.
"""

MODEL: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "model", "api_visibility": "private"}
"""Settings for events that wait for a model."""


SAME = "(same)"
"""The value of the picker's ``input`` if nobody chose another task."""

IF_CHOSEN = f"(slug) => slug && slug !== window.coevalBefore ? slug : '{SAME}'"
"""Gradio's dropdown reports an input whenever it loses focus; only another task is a choice (see main.js)."""


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
    """A part of a page with its own events; ``task`` is the picker in the page's top bar.

    A box of the page ``prefill`` adds its fields to the page's ``form``.
    """

    form: Form

    def __init__(self, context: Context, task: gr.Dropdown, form: Form | None = None) -> None:
        self.context, self.task = context, task
        if form is not None:
            self.form = form
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
        direct = DIRECT if quiet else {}
        return event(asking, [self.task, *inputs], filled, **{**QUICK, **direct, **options})

    def on_task(self, event: Event, handler: Callable[[Person, str], Any], outputs: Any = None) -> None:
        """Let the picker's ``input`` call ``handler(person, slug)`` after another task is chosen."""

        def chosen(person: Person, slug: str) -> Any:
            return gr.skip() if slug == SAME else handler(person, slug)

        self.on(event, chosen, outputs=outputs, js=IF_CHOSEN, **DIRECT)

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
        """Load the tab when it opens, and when another task is chosen. A tab of boxes alone has nothing to load."""
        if not self.outputs:
            return
        self.on(opened, self.load, **DIRECT)
        for event in chosen:
            self.on_task(event, self.load)


class StudyTab(Tab):
    """A tab of the study app; a page opened before there was a task shows the first new task."""

    def pick(self, person: Person, slug: str | None, request: gr.Request) -> str:
        return super().pick(person, slug or UNFILLED, request)


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
