"""The study app: one page with the tabs Criteria, Scrutiny, Agreement and Judge."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person, Role
from coeval.language import get_spoken, later, tr, trn
from coeval.study.access import Context
from coeval.study.scrutiny import inbox
from coeval.ui.alert import Alert
from coeval.ui.components.view import Node, el
from coeval.ui.panel import Page, StudyTab
from coeval.ui.study_app.agreement.agreement_tab import AgreementTab
from coeval.ui.study_app.criteria.criteria_tab import CriteriaTab
from coeval.ui.study_app.judge.judge_tab import JudgeTab
from coeval.ui.study_app.scrutiny.scrutiny_tab import ScrutinyTab

TABS: tuple[type[StudyTab], ...] = (CriteriaTab, ScrutinyTab, AgreementTab, JudgeTab)
"""Every tab of the study app, in the order in which they stand."""

ROLES = {Role.OWNER: later("owner"), Role.RESEARCHER: later("researcher"), Role.ANNOTATOR: later("annotator")}

OPEN_TASK = (
    "(slug) => { const u = new URL(location.href); u.searchParams.set('task', slug); location.href = u; }"
)


def build_main(context: Context) -> gr.Blocks:
    """The Blocks of the study app. Which task and tab are shown is in the address: ``?task=SLUG&tab=ID``."""
    page = Page(context, TABS)
    with gr.Blocks(title="CoEval", analytics_enabled=False, fill_width=True) as demo:
        task = page.build_bar("CoEval", lambda person, slug: _me(context, person, slug))
        alert = Alert(context, task)
        page.build_tabs(demo)
        alert.load_on(demo.load)
        task.input(None, task, js=OPEN_TASK)
    return demo


def _me(context: Context, person: Person, slug: str) -> Node:
    address = f"admin?task={slug}" if slug else "admin"
    setup = el("a", "Set-up ↗", href=address) if person.role is Role.OWNER else None
    page = "annotate" if person.role is Role.ANNOTATOR else "guide"
    help_ = el("a", tr("Help"), href=f"help/{page}", target="_blank")
    leave = el("a", tr("Sign out"), href="signout", data_post="1")
    everywhere = el("a", tr("Sign out on all devices"), href="signout/everywhere", data_post="1")
    who = el(
        "details.who",
        el("summary", el("span", person.name, dir="auto"), f" · {tr(ROLES[person.role])}"),
        everywhere,
    )
    spoken = get_spoken()
    # the whole page follows what its corner says, see static/texts/view.js
    speaks = f"{spoken.code} {spoken.direction}"
    return el("div.me", who, *_messages(context, person, slug), help_, setup, leave, data_speaks=speaks)


def _messages(context: Context, person: Person, slug: str) -> list[Node]:
    """How many messages wait for an owner, and the answers that one was given oneself, each with its place."""
    if not slug:
        return []
    shown: list[Node] = []
    if person.role is Role.OWNER and (n := inbox.count_open_messages(context, person, slug)):
        shown.append(el("a", f"Inbox {n}", href=f"admin?task={slug}&tab=inbox"))
    if answers := inbox.list_answers(context, person, slug):
        lines = [
            el(
                "li",
                el("a", tr("No. {at}", at=at), href=f"?task={slug}&tab=scrutiny&at={at}"),
                f": {message.answer}",
            )
            for at, message in answers
        ]
        shown.append(
            el("details.who", el("summary", trn("{n} answer", "{n} answers", len(answers))), el("ul", *lines))
        )
    return shown
