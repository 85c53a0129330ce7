"""Set-up, More tools: what each further page is for, and which of them a study uses."""

from __future__ import annotations

from functools import partial

import gradio as gr

from coeval.domain import Person
from coeval.errors import NotAllowedError, NotFoundError
from coeval.extending import load_parts
from coeval.ui.components.view import View, el
from coeval.ui.setup.crowd_tab import CrowdTab
from coeval.ui.setup.hosting_tab import HostingTab
from coeval.ui.setup.plan_tab import PlanTab
from coeval.ui.tabs import PageGroup, Tab, Update, list_turned_on, need_task, tell_done
from coeval.usecases import tasks

CORE_TOOLS: tuple[type[Tab], ...] = (PlanTab, CrowdTab, HostingTab)
"""The core's pages of Set-up that a study can do without."""

ABOUT = (
    "A study begins with few pages. Turn on what this study needs; nothing is lost when you turn a tool off."
)


def list_tools() -> list[tuple[type[Tab], str]]:
    """Return every tool with the page that lists it."""
    setup = [(kind, "Set-up") for kind in (*CORE_TOOLS, *load_parts("setup_pages"))]
    study = [(kind, "the study's page") for kind in load_parts("study_tabs")]
    return [(kind, place) for kind, place in (*setup, *study) if kind.purpose]


class ToolsTab(Tab):
    """The tab that says what each tool is for, and turns it on for the chosen task."""

    title, id = "More tools", "tools"
    group = PageGroup.MORE

    def build(self) -> None:
        View(el("p.note", ABOUT))
        self.tools = {}
        for kind, place in list_tools():
            self.tools[kind] = gr.Checkbox(
                label=str(kind.title), info=f"{kind.purpose} Listed on {place}.", elem_id=f"tool-{kind.id}"
            )
        self.outputs = list(self.tools.values())
        self.wanted_after = [
            self.on(box.input, partial(self.on_tool, kind), [box]).then for kind, box in self.tools.items()
        ]

    def load(self, person: Person, slug: str) -> Update:
        turned_on = list_turned_on(self.context, person, slug)
        update: Update = {}
        for kind, box in self.tools.items():
            used = self._is_used(kind, person, slug)
            update[box] = gr.Checkbox(used or kind.id in turned_on, interactive=bool(slug) and not used)
        return update

    def _is_used(self, kind: type[Tab], person: Person, slug: str) -> bool:
        try:
            return kind.is_used(self.context, person, slug)
        except (NotAllowedError, NotFoundError):
            return False

    def on_tool(self, kind: type[Tab], person: Person, slug: str, on: bool | None) -> Update:
        tasks.set_tool(self.context, person, need_task(slug), kind.id, on=bool(on))
        tell_done(f"{kind.title} is {'on' if on else 'off'} for this study.")
        return self.load(person, slug)
