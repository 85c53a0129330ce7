"""The help pages: the Markdown files of ``help/``, which are ours, as HTML."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from coeval.errors import NotFoundError
from coeval.llm.presets.registry import describe_presets
from coeval.ui.server.pages import render_page

HELP = Path(__file__).parents[1] / "help"
TITLES = {
    "guide": "Using CoEval",
    "roles": "Who may do what",
    "servers": "Model servers",
    "judges": "How a model judges",
    "presets": "Presets",
    "threats": "Security",
    "measured": "Measured",
    "replicate": "Published studies",
}


def add_help(app: FastAPI) -> None:
    """Add the help pages under /help/."""

    @app.get("/help/{name}", response_class=HTMLResponse)
    def show_help(name: str) -> HTMLResponse:
        if name not in TITLES:
            raise NotFoundError(f"There is no help page “{name[:40]}”; there are: {', '.join(TITLES)}.")
        return render(name)


def render(name: str) -> HTMLResponse:
    """A help page; its text is ours, so its HTML is shown as it is."""
    from markdown_it import MarkdownIt  # loaded when somebody asks for help, as starting is long enough

    text = (HELP / f"{name}.md").read_text(encoding="utf-8").replace("{presets}", describe_presets())
    body = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    return render_page("help", title=TITLES[name], base="../", pages=TITLES, body=body)
