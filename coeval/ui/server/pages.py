"""The plain pages outside Gradio: the Jinja templates of ``pages/``, which escape whatever they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from coeval.language import get_spoken, tr

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

TEMPLATES.globals["tr"] = tr


def render_page(
    page: str, status: int = 200, /, *, title: str, base: str = "", **values: Any
) -> HTMLResponse:
    """The page of that name, in the language spoken; ``base`` leads from it to where the app stands.

    Raises:
        jinja2.UndefinedError: the template asks for a value that was not given.
    """
    template = TEMPLATES.get_template(f"{page}.html")
    return HTMLResponse(template.render(title=title, base=base, language=get_spoken(), **values), status)
