"""The head of Gradio's pages, which names all parts of a page at once.

Gradio loads its parts in chains: each script names the next ones, and each kind of component has its own stylesheet.
On a line of 80 ms this takes two seconds. The names come from the installed version of Gradio; if it writes them in
another way, the parts load in chains again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.brotli_middleware import BrotliMiddleware, Compressor
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Send

from coeval.ui.server.plain_pages import BUNDLE, VERSION, render_person

FRONTEND = Path(gr.__file__).parent / "templates" / "frontend"
FIRST_SCRIPT = re.compile(r'src="\./assets/([\w.-]+)"')
FIRST_STYLE = re.compile(r'<link rel="stylesheet" crossorigin href="\./assets/([\w.-]+)">')
LISTED = re.compile(r"m\.f=\[([^\]]*)\]")
NEEDED = re.compile(r"__vite__mapDeps\(\[([\d,]+)\]\)")
COMPONENT = re.compile(r"\b(\w+):\{(?:[^{}]*,)?component:[^{}]*?" + NEEDED.pattern)
"""A kind of component in a script of Gradio, and the places of its files in the script's list."""

FRAME = "document.head.appendChild(script);"
"""Where Gradio loads a script that only a page in a frame of another site needs."""

HEAD = """
<link rel="icon" type="image/svg+xml" href="{static}favicon.svg">
<link rel="stylesheet" href="page.css?v={styles}">
{links}
<template id="extensions">{extensions}</template>
<script>
  /* components may be built before the modules below have loaded: they wait here */
  window.coevalReady = (run) => window.coeval?.view ? run() : addEventListener('coeval-ready', run, {{once: true}});
  window.coevalWaiting = {waiting};
  const waiting = new Set(Object.values(coevalWaiting).flat());
  for (const part of gradio_config.components) {{
    if (part.props.elem_id === 'tabs') part.props.selected = {tab};
    if (part.props.elem_id in coevalOpened) part.props.value = coevalOpened[part.props.elem_id];
    if (waiting.has(part.id)) part.props.visible = false;
  }}
  /* the server decides about another tab: until it has, no tab is shown */
  if (new URLSearchParams(location.search).get('tab') !== {tab}) document.documentElement.dataset.opening = '';
  /* page.css has the theme: Gradio does not load it again */
  const theme = document.createElement('link');
  const root = new URL(gradio_config.root, location.href).pathname.replace(/\\/$/, '');
  theme.setAttribute('href', `${{location.origin}}${{root}}/theme.css?v=${{gradio_config.theme_hash}}`);
  document.head.append(theme);
</script>
<script type="module" src="{static}bundle/main.js?v={version}"></script>
"""


def read_asset(name: str) -> str:
    return (FRONTEND / "assets" / name).read_text(encoding="utf-8")


def list_needed(script: str, pattern: re.Pattern[str]) -> list[tuple[str, list[str]]]:
    """Return each match's first group in a script of Gradio, and the files that its last group numbers.

    If the script lists its files in another way, no file is named.
    """
    text = read_asset(script)
    listed = LISTED.search(text)
    files = re.findall(r'"(?:\./)?([^"]+)"', listed[1]) if listed else []
    if not all((FRONTEND / "assets" / file).is_file() for file in files):
        return []
    return [
        (
            match[1],
            [files[int(place)] for place in match[match.re.groups].split(",") if int(place) < len(files)],
        )
        for match in pattern.finditer(text)
    ]


@cache
def list_files() -> tuple[list[str], dict[str, list[str]]]:
    """Return the files that every page of Gradio loads, in order, and those of each kind of component."""
    page = (FRONTEND / "index.html").read_text(encoding="utf-8")
    script, style = FIRST_SCRIPT.search(page), FIRST_STYLE.search(page)
    if not (script and style):
        return [], {}
    common = [script[1], style[1]]
    for _ in range(2):  # the first script loads a second one, which loads the page
        needed = list_needed(script[1] if len(common) == 2 else common[2], NEEDED)
        common += needed[0][1] if needed else []
    kinds: dict[str, list[str]] = {}
    for file in common:
        if file.endswith(".js"):
            kinds |= dict(list_needed(file, COMPONENT))
    return list(dict.fromkeys(common)), kinds


class FirstPage:
    """The first answer of a mounted Gradio app; ``css`` holds all styles that the page may need.

    ``static`` is the path from the page to our files; ``extensions`` are the tags that load those of the extensions.
    ``open_tab`` returns the values of the components of a tab by id, so that they need not wait for Gradio's events.
    """

    def __init__(
        self,
        blocks: gr.Blocks,
        static: str,
        extensions: str = "",
        open_tab: Callable[[Request, str], dict[str, Any]] = lambda request, tab: {},
    ) -> None:
        self.open_tab = open_tab
        config = blocks.config  # that of the mounted page
        self.components, self.static = config["components"], static
        self.common, self.kinds = list_files()
        self.has_style = bool(self.common)
        self.css = "\n".join(
            [
                *map(read_asset, _styles(self.common)),
                blocks.theme_css,
                (BUNDLE / "pages.css").read_text(encoding="utf-8"),
                *map(read_asset, _styles(self._list_used())),
            ]
        )
        packer = Compressor(quality=5)
        self.packed = packer.process(self.css.encode()) + packer.finish()
        doors = {part["id"]: part["props"] for part in self.components if part["type"] == "tabitem"}
        self.tabs = {door["id"] for door in doors.values() if "opens-first" in (door["elem_classes"] or [])}
        self.waiting = {
            doors[place]["id"]: event["outputs"]
            for event in config["dependencies"]
            for place, name in event["targets"]
            if name == "select" and not event["backend_fn"] and place in doors
        }
        """By tab, the ids of parts that appear only when the tab opens (``OPEN_TAB`` of ``tab_pages.py``)."""
        self.inside = {
            doors[place["id"]]["id"]: {part["id"] for part in _list_places(place)}
            for place in _list_places(config["layout"])
            if place["id"] in doors
        }
        self.values = {
            "static": static,
            "version": VERSION,
            "styles": hashlib.sha256(self.css.encode()).hexdigest()[:12],
            "extensions": extensions,
        }
        self.heads: dict[str | None, str] = {tab: self._build_head(tab) for tab in (None, *self.tabs)}

    def build_styles(self, accepted: str) -> ASGIApp:
        """Return the answer with ``css``; ``accepted`` are the encodings that the browser accepts."""
        if "br" not in accepted:
            return BrotliMiddleware(Response(self.css, media_type="text/css"))
        headers = {"Content-Encoding": "br", "Vary": "Accept-Encoding"}
        return Response(self.packed, media_type="text/css", headers=headers)

    def _list_used(self, left_out: Container[int] = ()) -> list[str]:
        """Return the files of the kinds of components on the page, without the common ones."""
        parts = [part for part in self.components if part["id"] not in left_out]
        used = dict.fromkeys(file for part in parts for file in self.kinds.get(part["type"], []))
        return [file for file in used if file not in self.common]

    def _build_head(self, tab: str | None) -> str:
        """Return our head of a page that opens with a tab; None is the first one."""
        opened = tab or next(iter(self.inside), None)
        waiting = {name: parts for name, parts in self.waiting.items() if name != opened}
        closed = {part for name, parts in self.inside.items() if name != opened for part in parts}
        shown = {part["id"] for part in self.components if part["props"].get("visible") is not False}
        shown -= {part for parts in waiting.values() for part in parts}
        used = self._list_used(closed - shown)
        scripts = [f"./assets/{file}" for file in [*self.common, *used] if file.endswith(".js")]
        # only what every page needs comes before our own script, because a browser opens six connections
        at = len(self.common) - len(_styles(self.common))
        scripts.insert(at, f"{self.static}bundle/main.js?v={VERSION}")
        # Gradio does not load a stylesheet that the page names, even if it is disabled
        styles = _styles([*self.common, *self._list_used(())])
        links = [f'<link rel="stylesheet" href="./assets/{file}" disabled>' for file in styles]
        links += [f'<link rel="modulepreload" href="{address}">' for address in scripts]
        return HEAD.format(
            tab=json.dumps(tab), waiting=json.dumps(waiting), links="\n".join(links), **self.values
        )

    def fill(self, send: Send, request: Request, person: str) -> Send:
        """Return a ``send`` for the app that adds our head to the page, and opens the query's tab.

        ``person`` is the uid of the person for whom the page is opened.
        """
        asked = request.query_params.get("tab", "")
        tab = asked if asked in self.tabs else None
        opened = json.dumps(self.open_tab(request, asked) if tab else {}).replace("<", "\\u003c")
        head = f"\n{render_person(person)}<script>window.coevalOpened = {opened};</script>{self.heads[tab]}"
        started: list[Message] = []

        async def send_filled(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.append(message)
                return
            page = message.get("body", b"").decode()
            if self.has_style:
                page = FIRST_STYLE.sub("", page, count=1)
            page = page.replace("</head>", f"{head}</head>", 1)
            body = page.replace(FRAME, f"if (window.parent !== window) {FRAME}").encode()
            for start in started:
                if body:
                    MutableHeaders(scope=start)["Content-Length"] = str(len(body))
                await send(start)
            started.clear()
            await send({**message, "body": body})

        return send_filled


def _list_places(place: Any) -> Iterator[Any]:
    """Yield all parts inside a part of the layout."""
    for child in place.get("children") or ():
        yield child
        yield from _list_places(child)


def _styles(files: Iterable[str]) -> list[str]:
    return [file for file in files if file.endswith(".css")]
