"""What every part of a page shares: how its events ask use cases, how a refusal is shown, when it loads.

A ``Panel`` lays out its components and wires its events in ``build``. A ``Tab`` is a panel with a title; a ``Page``
lists its tabs, and shows each as ``load`` gives it.
"""

from __future__ import annotations

import html
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import gradio as gr

from coeval.domain import Person
from coeval.errors import CoevalError, InputError
from coeval.language import SOURCE, get_spoken, speaking, tr
from coeval.study.access import Context
from coeval.study.languages import get_language
from coeval.ui.components.tasks_picker import UNFILLED, TaskPicker, first_task, newest_choices, task_choices
from coeval.ui.components.view import Node, View, el
from coeval.ui.server.identity import get_person, shown

Event = Callable[..., Any]
"""What Gradio gives to be listened to: ``button.click``, ``tab.select``, ``task.input``."""

Update = dict[Any, Any]
"""Components with what they are to show now."""

QUICK: dict[str, Any] = {"concurrency_limit": None, "api_visibility": "private", "show_progress": "hidden"}
"""How events run that only read or write our own file. No progress is shown, nor can an error cover the page."""

MODEL: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "model", "api_visibility": "private"}
"""How events run that wait for a model."""


KEEP_TASK = """(slug) => {
  const address = new URL(location.href);
  if (slug) address.searchParams.set('task', slug); else address.searchParams.delete('task');
  history.replaceState(history.state, '', address);
  return slug;
}"""
"""Writes the task chosen into the address."""

KEEP_TAB = """() => {{
  if (!window.coevalStarted) return;
  const address = new URL(location.href);
  address.searchParams.set('tab', '{tab}');
  history.replaceState(history.state, '', address);
}}"""
"""Writes the tab chosen into the address. The first tab opens by itself, before the address was read."""

STARTED = "() => { window.coevalStarted = true; }"


TOLD_SECONDS = 4.0


def tell_done(text: str) -> None:
    """Say in a corner of the page what was done, for a moment; texts that people typed may be in it."""
    gr.Info(html.escape(text), duration=TOLD_SECONDS, title="Done")


@contextmanager
def shown_refusals() -> Iterator[None]:
    """Show an error of ours as a message of the page."""
    try:
        yield
    except CoevalError as error:
        raise shown(error) from error


class Panel(ABC):
    """A part of a page with events of its own. ``task`` is the picker of the page's top bar."""

    def __init__(self, context: Context, task: gr.Dropdown) -> None:
        self.context, self.task = context, task
        self.outputs: list[Any] = []
        """What its events fill in where they name nothing else."""
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Lay out the components, and wire their events with ``on``."""

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
        """Have an event call ``handler(person, slug, *values of inputs)``.

        ``slug`` is the task shown, "" where there is none. ``options`` are Gradio's, over ``QUICK``. What the
        handler raises as an error of ours is shown as a message; ``quiet`` is for a clock's ticks, which nobody
        asked for: the page then stays as it is, and the next button says what is wrong. What Gradio gives for the
        event is returned: ``.then`` can follow it.
        """
        filled = self.outputs if outputs is None else outputs
        asking = self._asking_quietly(handler) if quiet else self._asking(handler)
        return event(asking, [self.task, *inputs], filled, **{**QUICK, **options})

    def pick(self, person: Person, slug: str | None, request: gr.Request) -> str:
        """The task that an event is about; before the picker is filled, the one that it will show."""
        return first_task(self.context, person, request) if slug == UNFILLED else slug or ""

    @contextmanager
    def speaking(self, request: gr.Request, slug: str | None) -> Iterator[tuple[Person, str]]:
        """Who asks about which task, in the language in which they read it."""
        person = get_person(self.context, request)
        picked = self.pick(person, slug, request)
        with speaking(get_language(self.context, picked, person)):
            yield person, picked

    def _asking_quietly(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        def asking(request: gr.Request, slug: str | None, *values: Any) -> Any:
            try:
                with self.speaking(request, slug) as who:
                    return handler(*who, *values)
            except CoevalError:
                return gr.skip()

        return asking

    def _asking(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """The handler as Gradio calls it; a coroutine and a generator stay what they are."""

        def asking(request: gr.Request, slug: str | None, *values: Any) -> Any:
            with shown_refusals(), self.speaking(request, slug) as who, shown_refusals():
                return handler(*who, *values)

        async def asking_long(request: gr.Request, slug: str | None, *values: Any) -> Any:
            with shown_refusals(), self.speaking(request, slug) as who, shown_refusals():
                return await handler(*who, *values)

        def asking_in_stages(request: gr.Request, slug: str | None, *values: Any) -> Iterator[Any]:
            with shown_refusals(), self.speaking(request, slug) as who:
                stages = handler(*who, *values)
            while True:  # every stage runs in a context of its own
                with shown_refusals(), self.speaking(request, slug), shown_refusals():
                    try:
                        stage = next(stages)
                    except StopIteration:
                        return
                yield stage

        if inspect.iscoroutinefunction(handler):
            return asking_long
        return asking_in_stages if inspect.isgeneratorfunction(handler) else asking


class Tab(Panel):
    """A tab of a page."""

    title: ClassVar[str]
    id: ClassVar[str]
    """Its name in the page and in the address (``?tab=``)."""

    at_start: ClassVar[bool] = False
    """Whether it loads with the page, before anybody opens it."""

    @abstractmethod
    def load(self, person: Person, slug: str) -> Any:
        """What ``outputs`` show for a task, or for no task where ``slug`` is ""."""

    def load_on(self, *events: Event) -> None:
        """Have each of these load the tab."""
        for event in events:
            self.on(event, self.load)


class StudyTab(Tab):
    """A tab of the study app: a page opened before there was a task shows the first that there is now."""

    def pick(self, person: Person, slug: str | None, request: gr.Request) -> str:
        return super().pick(person, slug or UNFILLED, request)


class Page:
    """The top bar's task picker and the tabs of a page; task and tab stay in the address, so that a reload keeps them.

    Built inside a Blocks: ``build_bar`` lays out the bar, with ``brand`` at its left and what ``corner`` gives for
    (person, slug) at its right, then ``build_tabs`` the tabs.
    """

    def __init__(self, context: Context, kinds: Sequence[type[Tab]]) -> None:
        self.context, self.kinds = context, kinds

    def build_bar(self, brand: str, corner: Callable[[Person, str], Node]) -> gr.Dropdown:
        """The bar; gives its task picker."""
        self.corner = corner
        with gr.Row(elem_id="top-bar"):
            View(el("strong", brand), elem_id="brand")
            self.task: gr.Dropdown = TaskPicker(
                [("", UNFILLED)], value=UNFILLED, label="Task", show_label=False, container=False,
                elem_id="task-picker", interactive=True,
            )  # fmt: skip
            self.me = View(elem_id="me")
        return self.task

    def build_tabs(self, demo: gr.Blocks, *changes: Event) -> None:
        """The tabs: each loads when it is opened and on ``changes``, some also with the page."""
        with gr.Tabs(elem_id="tabs") as tabs:
            built = [self._build_tab(kind) for kind in self.kinds]
        doors = [door for _, door in built]
        start = demo.load(self._on_load, outputs=[self.task, self.me, tabs, *doors], **QUICK)
        start.then(None, js=STARTED)
        for tab, door in built:
            tab.load_on(door.select, *changes)
            if tab.at_start:
                tab.on(start.then, tab.load)
        self.task.change(self._on_task, self.task, self.me, js=KEEP_TASK, **QUICK)
        self.task.focus(self._on_focus, None, self.task, **QUICK)

    def _build_tab(self, kind: type[Tab]) -> tuple[Tab, gr.Tab]:
        with gr.Tab(kind.title, id=kind.id) as door:
            tab = kind(self.context, self.task)
        door.select(None, js=KEEP_TAB.format(tab=kind.id))
        return tab, door

    def _on_load(self, request: gr.Request) -> list[Any]:
        with shown_refusals():
            person = get_person(self.context, request)
            slug = first_task(self.context, person, request)
            tab = request.query_params.get("tab")
            # the first tab is open already: to open it again would load it twice
            opened = gr.Tabs(selected=tab) if tab in {kind.id for kind in self.kinds[1:]} else gr.skip()
            with speaking(get_language(self.context, slug, person)):
                picker = task_choices(self.context, person, slug)
                return [picker, self.corner(person, slug), opened, *self._name_doors()]

    def _name_doors(self) -> list[Any]:
        """The titles of the tabs in another language than English, in which they were built."""
        if get_spoken().code == SOURCE:
            return [gr.skip()] * len(self.kinds)
        return [gr.Tab(label=tr(kind.title)) for kind in self.kinds]

    def _on_focus(self, request: gr.Request) -> gr.Dropdown:
        with shown_refusals():
            return newest_choices(self.context, get_person(self.context, request))

    def _on_task(self, slug: str | None, request: gr.Request) -> Node:
        with shown_refusals():
            person = get_person(self.context, request)
            with speaking(get_language(self.context, slug or "", person)):
                return self.corner(person, slug or "")


def need_task(slug: str) -> str:
    """The task's short name.

    Raises:
        InputError: there is no task to do anything with.
    """
    if not slug:
        raise InputError("There is no task yet: describe one in Set-up, under Tasks, then try again.")
    return slug
