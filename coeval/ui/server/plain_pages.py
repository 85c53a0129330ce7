"""Render the plain pages outside Gradio from their templates, the help from Markdown, and the tags of scripts."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coeval.errors import NotFoundError
from coeval.extending import list_extensions, list_scripts
from coeval.language import LOCALE, get_spoken, tr
from coeval.llm.prompting.presets import describe_presets

FOLDER = Path(__file__).parents[1] / "static"
BUNDLE = FOLDER / "bundle"
"""The output of ``npm run --prefix tests/js bundle`` from the modules beside it. Pages load only these
files, three instead of sixty. Node is not needed to run the app.
"""


def _hash_bundle() -> str:
    digest = hashlib.sha256()
    for path in sorted(BUNDLE.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


VERSION = _hash_bundle()
"""Part of the bundle's address, so that browsers load each version exactly once."""


def render_tags(static: str) -> str:
    """Return the tags for the extensions' scripts and styles, on a page whose static files are at ``static``."""
    tags = []
    for name, folder, scripts in list_scripts():
        for file in scripts:
            version = hashlib.sha256((folder / file).read_bytes()).hexdigest()[:12]
            address = f"{static}extensions/{name}/{file}?v={version}"
            is_style = file.endswith(".css")
            tags.append(
                f'<link rel="stylesheet" href="{address}">\n'
                if is_style
                else f'<script type="module" src="{address}"></script>\n'
            )
    return "".join(tags)


PERSON = """<script>
  window.coevalPerson = '%s';
  {
    const send = window.fetch;
    window.fetch = (place, options = {}) => {
      const headers = new Headers(options.headers ?? place.headers);
      headers.set('coeval-person', window.coevalPerson);
      return send(place, { ...options, headers });
    };
  }
</script>"""


def render_person(person: str) -> Markup:
    """Return the script by which every request of a page names the person (uid) for whom the page was opened.

    The server refuses such a request in the session of another person.
    """
    return Markup(PERSON) % person


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

TEMPLATES.globals["tr"] = tr
TEMPLATES.globals["version"] = VERSION
TEMPLATES.globals["render_person"] = render_person


def render_page(
    page: str, status: int = 200, /, *, title: str, base: str = "", **values: Any
) -> HTMLResponse:
    """Return the page with that name, in the language spoken; ``base`` is the path from it to the app's root.

    Raises:
        jinja2.UndefinedError: the template asks for a value that was not given.
    """
    template = TEMPLATES.get_template(f"{page}.html")
    return HTMLResponse(template.render(title=title, base=base, language=get_spoken(), **values), status)


HELP = Path(__file__).parents[1] / "help"
SCHEMA = HELP / "judge.schema.json"
"""The JSON Schema of judge.json; ``python -m coeval judge schema`` prints it."""
GROUPS: dict[str, dict[str, str]] = {
    "For annotators": {"annotate": "For annotators"},
    "For researchers": {
        "guide": "Using CoEval",
        "crowd": "A crowd study",
        "judges": "How a model judges",
        "roles": "Who may do what",
    },
    "For analysts": {
        "numbers": "What the numbers mean",
    },
    "For hosts": {
        "space": "Host on a Space",
        "deploy": "Several servers",
        "servers": "Model servers",
        "threats": "Security",
        "data": "Data protection",
    },
    "For engineers": {
        "commands": "From the command line",
        "contribute": "Contribute",
    },
}
"""Help pages by reader, extensions' pages last. Other groups link to the first page of a group."""


def _add_help_of_extensions() -> dict[str, Path]:
    """Return the file of every help page by name, after adding the extensions' pages to the groups."""
    pages = {name: HELP / f"{name}.md" for group in GROUPS.values() for name in group}
    for extension in list_extensions():
        for reader, file in extension.help:
            path = Path(str(files(extension.package) / file))
            name = extension.name if path.stem == "help" else path.stem
            heading = path.read_text(encoding="utf-8").partition("\n")[0]
            GROUPS.setdefault(reader, {})[name] = heading.removeprefix("# ")
            pages[name] = path
    return pages


FILES = _add_help_of_extensions()
TITLES = {name: title for pages in GROUPS.values() for name, title in pages.items()}


def list_links(name: str) -> dict[str, str]:
    """Return the links of the help page ``name``: the pages of its group and the first page of every other group."""
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
        return render_help(name)


def render_help(name: str) -> HTMLResponse:
    """Return a help page, in the current language if it is translated (``coeval/locale/LANGUAGE/help``).

    HTML tags in the Markdown are shown as text.
    """
    from markdown_it import MarkdownIt  # loaded on the first request for help, to keep the start short

    translated = LOCALE / get_spoken().code / "help" / f"{name}.md"
    text = (translated if translated.is_file() else FILES[name]).read_text(encoding="utf-8")
    text = text.replace("{presets}", describe_presets())
    body = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    return render_page("help", title=TITLES[name], base="../", pages=list_links(name), body=body)
