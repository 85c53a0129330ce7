"""The plain pages outside Gradio: the Jinja templates of ``pages/``, which escape whatever they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render_page(
    page: str, status: int = 200, /, *, title: str, base: str = "", **values: Any
) -> HTMLResponse:
    """The page of that name; ``base`` leads from it to where the app stands.

    Raises:
        jinja2.UndefinedError: the template asks for a value that was not given.
    """
    return HTMLResponse(
        TEMPLATES.get_template(f"{page}.html").render(title=title, base=base, **values), status
    )
