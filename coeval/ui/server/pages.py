"""The plain pages outside Gradio: templates of ``pages/`` with their values escaped."""

from __future__ import annotations

import html
from pathlib import Path
from string import Template

from fastapi.responses import HTMLResponse

from coeval.ui.components.view import Node

HERE = Path(__file__).parent / "pages"
VOID = frozenset(["br", "hr", "input"])


def form_node(tag: str, *children: Node, **attributes: str) -> Node:
    """A node of a form, which views inside Gradio do not hold; see ``coeval.ui.components.view.el``."""
    name, _, cls = tag.partition(".")
    return {"tag": name, "class": cls, "attributes": attributes, "children": list(children)}


def render_page(page: str, status: int = 200, /, **values: str | list[Node]) -> HTMLResponse:
    """The page of that name; texts are escaped, nodes become markup that can run nothing.

    Raises:
        KeyError: the template asks for a value that was not given.
    """
    template = Template((HERE / f"{page}.html").read_text(encoding="utf-8"))
    filled = {key: _markup(value) for key, value in values.items()}
    return HTMLResponse(template.substitute(filled), status)


def _markup(value: str | list[Node]) -> str:
    return html.escape(value) if isinstance(value, str) else "".join(render_node(node) for node in value)


def render_node(node: Node) -> str:
    """A node of ``coeval.ui.components.view`` as HTML.

    >>> render_node({"tag": "p", "class": "note", "attributes": {}, "children": ["1 < 2"]})
    '<p class="note">1 &lt; 2</p>'
    """
    if isinstance(node, str):
        return html.escape(node)
    attributes = {"class": node["class"], **node["attributes"]}
    shown = "".join(f' {key}="{html.escape(str(value))}"' for key, value in attributes.items() if value)
    inner = "".join(render_node(child) for child in node["children"])
    end = "" if node["tag"] in VOID else f"</{node['tag']}>"
    return f"<{node['tag']}{shown}>{inner}{end}"
