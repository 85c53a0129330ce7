"""Set-up: tasks, import, pre-fill, people, export. Its own mount, for owners only."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.study.access import Context
from coeval.ui.alert import Alert
from coeval.ui.components.view import Node, el
from coeval.ui.panel import Page, Tab
from coeval.ui.setup.crowd_people_tab import CrowdPeopleTab
from coeval.ui.setup.crowd_tab import CrowdTab
from coeval.ui.setup.exchange.import_tab import ImportTab
from coeval.ui.setup.hosting_tab import HostingTab
from coeval.ui.setup.people_tab import PeopleTab
from coeval.ui.setup.plan_tab import PlanTab
from coeval.ui.setup.prefill.prefill_tab import PrefillTab
from coeval.ui.setup.prolific.prolific_tab import ProlificTab
from coeval.ui.setup.review.data_tab import DataTab
from coeval.ui.setup.review.inbox_tab import InboxTab
from coeval.ui.setup.review.review_tab import ReviewTab
from coeval.ui.setup.task.tasks_tab import TasksTab

TABS: tuple[type[Tab], ...] = (
    TasksTab,
    ImportTab,
    PrefillTab,
    DataTab,
    ReviewTab,
    InboxTab,
    PlanTab,
    PeopleTab,
    CrowdTab,
    CrowdPeopleTab,
    ProlificTab,
    HostingTab,
)
"""Every tab of Set-up, in the order in which they stand: a new one is a file and a line here."""


def build_admin(context: Context) -> gr.Blocks:
    """The Blocks of the set-up area. Which task and tab are shown is in the address: ``?task=SLUG&tab=ID``."""
    page = Page(context, TABS)
    with gr.Blocks(title="CoEval · Set-up", analytics_enabled=False, fill_width=True) as demo:
        task = page.build_bar("CoEval · Set-up", _back)
        alert = Alert(context, task)
        page.build_tabs(demo, task.input)
        alert.load_on(demo.load)
    return demo


def _back(person: Person, slug: str) -> Node:
    return el("div.me", el("a", "← Back to the study", href=f"../?task={slug}" if slug else "../"))
