"""Where the files of a task are: every link of the tab, relative to the page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from coeval.stats.basis import Basis
from coeval.study.exporting.formats.registry import OUT_FORMATS
from coeval.ui.components.view import Node, el


def task_file(slug: str, name: str) -> str:
    """
    >>> task_file("eli5", "scores.csv")
    'download/eli5/scores.csv'
    """
    return f"download/{quote(slug)}/{name}"


def chart_file(slug: str, section: str, name: str, basis: Basis) -> str:
    """
    >>> chart_file("eli5", "time", "time-curve", Basis())
    'download/eli5/charts/time/time-curve.csv'
    >>> chart_file("eli5", "time", "time-curve", Basis(1, "blind", False))
    'download/eli5/charts/time/time-curve.csv?version=1&arm=blind&planted=out'
    """
    chosen = {
        "version": basis.version or "",
        "arm": basis.arm,
        "planted": "" if basis.planted else "out",
    }
    query = urlencode({name: value for name, value in chosen.items() if value})
    return task_file(slug, f"charts/{section}/{name}.csv") + (f"?{query}" if query else "")


def with_links(slug: str, nodes: Sequence[Node | None]) -> list[Node]:
    """The nodes that are there, with each link to a bare file name led to that file of the task."""
    return [_linked(slug, node) for node in nodes if node is not None]


def _linked(slug: str, node: Node) -> Node:
    if isinstance(node, str):
        return node
    attributes = dict(node["attributes"])
    href = attributes.get("href", "")
    if href.endswith(".csv") and "/" not in href:
        attributes["href"] = task_file(slug, href)
    return node | {"attributes": attributes, "children": with_links(slug, node["children"])}


def downloads_view(slug: str) -> Node:
    """The files that hold everything."""
    return el(
        "div.downloads",
        el(
            "a.ghost", "CSV", href=task_file(slug, "export.zip"), download="", title="Every table of the task"
        ),
        el(
            "a.ghost",
            "Paper tables",
            href=task_file(slug, "paper-tables.zip"),
            download="",
            title="The paper's tables as CSV, Markdown and LaTeX, with a methods paragraph",
        ),
        _other_tools_view(slug),
    )


def _other_tools_view(slug: str) -> Node:
    """Formats of other tools. A link is no download of its own: what cannot be built is told on a page."""
    links = (
        el(
            "li",
            el("a", out.title, href=task_file(slug, f"as/{out.name}.zip")),
            el("p.note", out.summary),
        )
        for out in OUT_FORMATS
    )
    return el("details.other-tools", el("summary.ghost", "For other tools"), el("ul.card", *links))
