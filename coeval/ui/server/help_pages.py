"""The help pages: the Markdown files of ``help/``, which are ours, as HTML."""

from __future__ import annotations

import html
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from coeval.errors import NotFoundError

HELP = Path(__file__).parents[1] / "help"
TITLES = {"guide": "Using CoEval", "roles": "Who may do what", "threats": "Security", "measured": "Measured"}

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · CoEval</title>
<link rel="icon" type="image/svg+xml" href="../ui/favicon.svg">
<link rel="stylesheet" href="../ui/css/help.css">
<nav><a href="../">← CoEval</a>{links}</nav>
<main>{body}</main>
</html>"""


def add_help(app: FastAPI) -> None:
    """Add the help pages under /help/."""

    @app.get("/help/{name}", response_class=HTMLResponse)
    def show_help(name: str) -> HTMLResponse:
        if name not in TITLES:
            raise NotFoundError(f"There is no help page “{name[:40]}”; there are: {', '.join(TITLES)}.")
        return HTMLResponse(render(name))


def render(name: str) -> str:
    """A help page as HTML."""
    from markdown_it import MarkdownIt  # loaded when somebody asks for help, as starting is long enough

    text = (HELP / f"{name}.md").read_text(encoding="utf-8")
    links = "".join(f'<a href="{other}">{html.escape(title)}</a>' for other, title in TITLES.items())
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return PAGE.format(title=html.escape(TITLES[name]), links=links, body=body)
