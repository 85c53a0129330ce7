"""What the pages of a study are made of: their body, their buttons, and the way out with a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coeval.domain import Plan
from coeval.language import tr
from coeval.ui.components.view import Node, el

PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
PROLIFIC_SUBMISSIONS = "https://app.prolific.com/submissions/"


@dataclass(frozen=True, slots=True)
class StudyForm:
    """A button of the page, what it sends with it, and a line to fill in where ``ask`` names its label."""

    action: str
    label: str
    hidden: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    ask: str = ""


@dataclass(frozen=True, slots=True)
class StudyView:
    """The page's body and buttons; ``kind`` sets one kind of page apart from the others."""

    body: list[Node]
    forms: tuple[StudyForm, ...] = ()
    kind: str = "plain"


def show_way_out(plan: Plan, code: str) -> list[Node]:
    """The completion code, large, with the way back to the service; without a code, what to do instead."""
    service = plan.terms.service
    if code and service == "prolific":
        button = el("p", el("a.button", tr("Back to Prolific with this code"), href=PROLIFIC + code))
        return [el("p", tr("Your completion code:")), el("p.code", code), button]
    if code:
        where = (
            tr("Copy it to MTurk, in the field of the task.")
            if service == "mturk"
            else tr("Copy it to the place that asks for it.")
        )
        return [el("p", tr("Your completion code:")), el("p.code", code), el("p", where)]
    if service == "prolific":
        button = el("a.button", tr("Go to your submissions at Prolific"), href=PROLIFIC_SUBMISSIONS)
        return [
            el("p", tr("There is no code for this: return your submission at Prolific.")),
            el("p", button),
        ]
    if service == "mturk":
        return [el("p", tr("There is no code for this: return the task at MTurk."))]
    return [el("p", tr("You can close this page."))]


def paragraphs(text: str) -> list[Node]:
    """Plain text as paragraphs, each running in its own direction; a line that begins with # is a heading.

    >>> [node["tag"] for node in paragraphs("# One\\n\\nTwo")]
    ['h2', 'p']
    """
    blocks = [block.strip() for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return [
        el("h2", block.lstrip("# "), dir="auto") if block.startswith("#") else el("p", block, dir="auto")
        for block in blocks
    ]
