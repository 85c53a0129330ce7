"""Build the two pages of tabs: the study app at / and Set-up at /admin."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.routes import App

from coeval.datasets.text import shorten
from coeval.domain import InboxState, Person, Role
from coeval.extending import load_parts
from coeval.language import get_spoken, later, tr, trn
from coeval.ui.app.agreement.agreement_tab import AgreementTab
from coeval.ui.app.criteria_tab import CriteriaTab
from coeval.ui.app.scrutiny_tab import ScrutinyTab
from coeval.ui.components.view import Node, el
from coeval.ui.setup.data_tab import DataTab
from coeval.ui.setup.import_tab import ImportTab
from coeval.ui.setup.messages_box import message_card
from coeval.ui.setup.people_tab import PeopleTab
from coeval.ui.setup.prefill_tab import PrefillTab
from coeval.ui.setup.review_tab import ReviewTab
from coeval.ui.setup.tasks_tab import TasksTab
from coeval.ui.setup.tools_tab import CORE_TOOLS, ToolsTab
from coeval.ui.tab_pages import Page
from coeval.ui.tabs import StudyTab, Tab
from coeval.usecases.access import Context
from coeval.usecases.scrutiny import review

STUDY_TABS: tuple[type[StudyTab], ...] = (CriteriaTab, ScrutinyTab, AgreementTab)
"""The tabs of the study app, in order; extensions' tabs come after them."""

MOST_LISTED = 20
"""The largest number of open messages in the bar."""

ROLES = {Role.OWNER: later("owner"), Role.RESEARCHER: later("researcher"), Role.ANNOTATOR: later("annotator")}

OPEN_TASK = """(slug) => {
  if (!slug || slug === window.coevalBefore) return;
  const address = new URL(location.href);
  address.searchParams.set('task', slug);
  location.href = address;
}"""
"""Opens the chosen task. The picker also reports an input when it loses focus."""


def keep_signatures() -> None:
    """Let Python keep the signatures of constructors of components, which Gradio reads thousands of times."""
    kinds: list[Any] = [Block]
    for kind in kinds:
        kinds += kind.__subclasses__()
        constructor = inspect.unwrap(kind.__init__)
        constructor.__signature__ = inspect.signature(constructor)


@contextmanager
def without_apps() -> Iterator[None]:
    """Let Gradio build Blocks without the two apps that it would create for them and never serve.

    That takes a tenth of a second for our pages. The mount creates the app that is served.
    """
    kind: Any = App
    create, kind.create_app = kind.create_app, staticmethod(lambda *_, **__: None)
    try:
        yield
    finally:
        kind.create_app = staticmethod(create)


def build_main(context: Context) -> gr.Blocks:
    """Return the Blocks of the study app. The address names the task and the tab: ``?task=SLUG&tab=ID``."""
    page = Page(context, [*STUDY_TABS, *load_parts("study_tabs")])
    with without_apps(), gr.Blocks(title="CoEval", analytics_enabled=False, fill_width=True) as demo:
        task = page.build_bar("CoEval", lambda person, slug: _me(context, person, slug))
        page.build_tabs(demo)
        task.input(None, task, js=OPEN_TASK)
    return demo


def _me(context: Context, person: Person, slug: str) -> Node:
    address = f"admin?task={slug}" if slug else "admin"
    setup = el("a", "Set-up", href=address) if person.role is Role.OWNER else None
    page = "annotate" if person.role is Role.ANNOTATOR else "guide"
    help_ = el("a", tr("Help"), href=f"help/{page}", target="_blank")
    spoken = get_spoken()
    # the corner sets the language and direction of the page, see static/texts/view.js
    speaks = f"{spoken.code} {spoken.direction}"
    leave = el("a", tr("Sign out"), href="signout", data_post="1")
    return el(
        "div.me", _who(person), *_messages(context, person, slug), help_, setup, leave, data_speaks=speaks
    )


def _who(person: Person, home: str = "") -> Node:
    """Return the person's name and role. A click on them shows the link that ends all sessions."""
    everywhere = el("a", tr("Sign out on all devices"), href=f"{home}signout/everywhere", data_post="1")
    name = el("summary", el("span", person.name, dir="auto"), f" · {tr(ROLES[person.role])}")
    return el("details.who", name, everywhere)


def _messages(context: Context, person: Person, slug: str) -> list[Node]:
    """Return the nodes for messages: the open ones for an owner, and the answers to this person."""
    if not slug:
        return []
    shown: list[Node] = []
    if person.role is Role.OWNER and (n := review.count_open_messages(context, person, slug)):
        newest = review.list_messages(context, person, slug, InboxState.OPEN)[:MOST_LISTED]
        cards = [message_card(slug, message, "") for message in newest]
        others = el("a", "All messages", href=f"admin?task={slug}&tab=review")
        shown.append(
            el("details.who.answers", el("summary", f"Inbox {n}"), el("div", *cards, others), id="inbox")
        )
    if answers := review.list_answers(context, person, slug):
        lines = [
            el(
                "li",
                el(
                    "a", shorten(message.comment, 40) or tr("Flag"), href=f"?task={slug}&tab=scrutiny&at={at}"
                ),
                f" · {message.answered_by}: ",
                el("span", message.answer, dir="auto"),
            )
            for at, message in answers
        ]
        shown.append(
            el(
                "details.who.answers",
                el("summary", trn("{n} answer", "{n} answers", len(answers))),
                el("ul", *lines),
                id="answers",
            )
        )
    return shown


SETUP_TABS: tuple[type[Tab], ...] = (
    TasksTab,
    ImportTab,
    PrefillTab,
    DataTab,
    PeopleTab,
    ReviewTab,
    ToolsTab,
    *CORE_TOOLS,
)
"""The tabs of Set-up, in order within their groups; extensions' tabs are last in a group."""


def build_admin(context: Context) -> gr.Blocks:
    """Return the Blocks of the set-up area. The address names the task and the tab: ``?task=SLUG&tab=ID``."""
    page = Page(context, [*SETUP_TABS, *load_parts("setup_pages")], grouped=True)
    with without_apps(), gr.Blocks(title="CoEval · Set-up", analytics_enabled=False, fill_width=True) as demo:
        task = page.build_bar("CoEval · Set-up", _back)
        page.build_tabs(demo, task.input)
    return demo


def _back(person: Person, slug: str) -> Node:
    back = el("a", "← Study", href=f"../?task={slug}" if slug else "../")
    help_ = el("a", "Help", href="../help/guide", target="_blank")
    leave = el("a", "Sign out", href="../signout", data_post="1")
    return el("div.me", _who(person, "../"), help_, back, leave)
