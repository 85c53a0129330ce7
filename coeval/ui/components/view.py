"""Nodes that the browser builds without markup, and placeholders for parts that it builds itself; the table of jobs.

Gradio interprets the value of a gr.HTML as markup, so the templates here are constant. The value of a ``View`` is a
tree of nodes that ``static/texts/view.js`` builds with createElement and textContent. The value of a ``Screen`` only
names what to show, and for whom. The scripts under ``static/`` fetch and save the content through JSON routes, which
bypass Gradio's queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import gradio as gr

from coeval.domain import Job
from coeval.domain.tasks import Turn, read_chat
from coeval.usecases.images import ShownImage

# Read-only pieces of a page, built from nodes whose texts can never become markup.

Node = dict[str, Any] | str
T = TypeVar("T")
"""The type of the items that a table shows."""
TAGS = frozenset(
    ["a", "b", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4",
     "hr", "i", "img", "ins", "kbd", "li", "ol", "p", "pre", "section", "small", "span", "strong",
     "summary", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"]
)  # fmt: skip


def el(tag: str, *children: Node | None, **attributes: Any) -> dict[str, Any]:
    """Return a node: ``tag.class1.class2``, children (texts or nodes; None is left out) and attributes.

    ``width`` is a share from 0 to 1 of the parent's width. Underscores in names become hyphens.

    >>> el("p.note", "5 of 7")
    {'tag': 'p', 'class': 'note', 'attributes': {}, 'children': ['5 of 7']}

    Raises:
        ValueError: the tag is not among ``TAGS``.
    """
    name, *classes = tag.split(".")
    if name not in TAGS:
        raise ValueError(f"<{name}> is not a tag that a view can hold.")
    return {
        "tag": name,
        "class": " ".join(classes),
        "attributes": {
            key.replace("_", "-"): value for key, value in attributes.items() if value is not None
        },
        "children": [child for child in children if child is not None],
    }


def table(head: Sequence[str], rows: Sequence[Sequence[Node | None]], *, cls: str = "grid") -> dict[str, Any]:
    """Return a plain table; cells are texts or nodes."""
    return el(
        f"table.{cls}",
        el("thead", el("tr", *(el("th", name, scope="col") for name in head))),
        el("tbody", *(el("tr", *(el("td", cell) for cell in row)) for row in rows)),
    )


def table_of(items: Iterable[T], columns: Mapping[str, Callable[[T], Node | None]]) -> dict[str, Any]:
    """Return a table with a row for each item; ``columns`` maps a heading to the function that returns its cell.

    >>> len(table_of([1, 2], {"Number": str, "Half": lambda n: f"{n / 2:.1f}"})["children"][1]["children"])
    2
    """
    return table(list(columns), [[cell(item) for cell in columns.values()] for item in items])


def scrolling(name: str, node: Node) -> dict[str, Any]:
    """Return a table that scrolls sideways, also with the keyboard, if it is too wide."""
    return el("div.scroll", node, tabindex="0", role="group", aria_label=name)


def markdown_view(text: str) -> dict[str, Any]:
    """Return Markdown that the browser renders like a task's guidelines; HTML in it stays text."""
    return el("div.coeval", el("div.ce-markdown", data_markdown=text))


def text_view(text: str) -> dict[str, Any]:
    """Return a text of an instance unchanged, or a conversation as its turns, with the steps of tools folded."""
    turns = read_chat(text)
    return el("div", *map(_turn_view, turns)) if turns else el("pre", text)


def _turn_view(turn: Turn) -> dict[str, Any]:
    if turn.is_step:
        return el("details.turn.is-step", el("summary.turn-role", turn.role), el("pre", turn.content))
    name = "div.turn.is-user" if turn.role == "user" else "div.turn"
    return el(name, el("span.turn-role", turn.role), el("pre", turn.content))


def image_view(image: ShownImage) -> dict[str, Any]:
    """Return an image of an instance, or why it is not shown."""
    if image.problem:
        return el("p.note", image.problem)
    return el("div.shown-image", el("img", src=image.source, alt=image.name))


class View(gr.HTML):
    """Shows a node, or a list of nodes, from the server."""

    def __init__(self, value: Node | list[Node] | None = None, **options: Any) -> None:
        super().__init__(
            value=value,
            html_template='<div class="coeval-view"></div>',
            js_on_load="window.coevalReady(() => window.coeval.view(element, props, watch));",
            apply_default_css=False,
            **options,
        )

    def postprocess(self, value: Any) -> Any:
        nodes = value if isinstance(value, list) else [value]
        return {"nodes": [node for node in nodes if node is not None]}

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}


# Parts of the page that the browser builds by itself; Gradio only gives them a place.

TEMPLATE = '<div class="coeval-mount">Loading…</div>'
BOOTSTRAP = """
window.coevalReady(() => window.coeval.screen(%r, element.querySelector('.coeval-mount'), props, watch, trigger));
/* events that can be listened to: 'submit' */
"""
Value = dict[str, Any]


class Screen(gr.HTML):
    """A screen that the browser builds: scrutiny, a ballot, an owner's decisions, or a screen of an extension.

    The value is ``{"task": slug, "person": text}`` or None; ``person`` only separates what
    the browser stores for different people, so any unique text will do. ``language`` is the language of the words. A
    ballot and decisions add ``round`` and ``revision``, which tell them when to fetch newer content. ``submit`` fires
    after a save.
    """

    def __init__(
        self,
        value: Value | None = None,
        *,
        screen: str = "scrutiny",
        **options: Any,
    ) -> None:
        self.screen = screen
        super().__init__(
            value=value,
            html_template=TEMPLATE,
            js_on_load=BOOTSTRAP % screen,
            apply_default_css=False,
            **options,
        )

    def preprocess(self, payload: Any) -> None:
        """Ignore the browser's value: this component takes no input."""
        return None

    def postprocess(self, value: Any) -> Any:
        return value

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}


class Follower(gr.HTML):
    """An invisible part whose ``submit`` static/core/follow.js fires. A button would load four scripts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            html_template="<i></i>",
            js_on_load="window.coevalReady(() => window.coeval.follower(element, trigger));",
            elem_classes="following",
            apply_default_css=False,
            **options,
        )


MOST = 8
"""The largest number of jobs on a page."""


def jobs_view(listed: list[Job], title: str) -> Node:
    """Return a table of the newest jobs."""
    rows: list[list[Node | None]] = [
        [job.label, _started(job), str(job.state), _bar(job), _unread(job), job.message]
        for job in listed[:MOST]
    ]
    heads = ["Run", "Started (UTC)", "State", "Done", "Unreadable answers", "Speed, or how it ended"]
    if not any(job.label for job in listed):
        heads, rows = heads[1:], [row[1:] for row in rows]
    return el("div.card", el("h4", title), el("div.scroll", table(heads, rows)))


def _started(job: Job) -> str:
    return job.created_at[:16].replace("T", " ")


def _bar(job: Job) -> Node:
    share = (job.done + job.failed) / job.total if job.total else 1.0
    failed = f", {job.failed:,} failed" if job.failed else ""
    return el("div", f"{job.done:,} of {job.total:,}{failed}", el("div.track", el("i", width=share)))


def _unread(job: Job) -> str:
    """Return the number of answers in no form, and their share."""
    results = max(1, job.done + job.failed)
    return f"{job.unread:,} ({job.unread / results:.0%})" if job.unread else "0"
