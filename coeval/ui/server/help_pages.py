"""The help pages: the Markdown files of ``help/``, which are ours, as HTML; and the schema of ``judge.json``."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from markupsafe import Markup

from coeval.errors import NotFoundError
from coeval.llm.presets.registry import describe_presets
from coeval.ui.server.pages import render_page

HELP = Path(__file__).parents[1] / "help"
SCHEMA = HELP / "judge.schema.json"
"""The JSON Schema of judge.json; ``python -m coeval judge schema`` prints it."""
GROUPS: dict[str, dict[str, str]] = {
    "For annotators": {"annotate": "For annotators"},
    "For owners": {
        "guide": "Using CoEval",
        "judges": "How a model judges",
        "judgefile": "A judge in a file",
        "certificate": "A judge and its certificate",
        "presets": "Presets",
        "tools": "Files of other tools",
        "replicate": "Published studies",
    },
    "For administrators": {
        "deploy": "Several servers",
        "servers": "Model servers",
        "roles": "Who may do what",
        "threats": "Security",
        "measured": "Measured",
    },
}
"""The pages by whom they are for; the first of a group is where others link to."""

TITLES = {name: title for pages in GROUPS.values() for name, title in pages.items()}


def list_links(name: str) -> dict[str, str]:
    """The pages beside ``name``: those of its group, and the first of every other group."""
    links: dict[str, str] = {}
    for group, pages in GROUPS.items():
        links |= pages if name in pages else {next(iter(pages)): group}
    return links


def add_help(app: FastAPI) -> None:
    """Add the help pages under /help/."""

    @app.get("/help/{name}", response_class=HTMLResponse)
    def show_help(name: str) -> Response:
        if name == SCHEMA.name:
            return FileResponse(SCHEMA, media_type="application/schema+json")
        if name not in TITLES:
            raise NotFoundError(f"There is no help page “{name[:40]}”; there are: {', '.join(TITLES)}.")
        return render(name)


def render(name: str) -> HTMLResponse:
    """A help page; its text is ours, so its HTML is shown as it is."""
    from markdown_it import MarkdownIt  # loaded when somebody asks for help, as starting is long enough

    text = (HELP / f"{name}.md").read_text(encoding="utf-8").replace("{presets}", describe_presets())
    body = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    return render_page("help", title=TITLES[name], base="../", pages=list_links(name), body=body)
