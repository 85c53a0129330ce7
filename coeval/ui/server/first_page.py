"""The head of Gradio's pages, which names all parts of a page at once.

Gradio loads its parts in chains: each script names the next ones, and each kind of component has its own stylesheet.
On a line of 80 ms this takes two seconds. The names come from the installed version of Gradio; if it writes them in
another way, the parts load in chains again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

import gradio as gr
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from coeval.ui.server.plain_pages import BUNDLE, VERSION

FRONTEND = Path(gr.__file__).parent / "templates" / "frontend"
FIRST_SCRIPT = re.compile(r'src="\./assets/([\w.-]+)"')
FIRST_STYLE = re.compile(r'<link rel="stylesheet" crossorigin href="\./assets/([\w.-]+)">')
LISTED = re.compile(r"m\.f=\[([^\]]*)\]")
NEEDED = re.compile(r"__vite__mapDeps\(\[([\d,]+)\]\)")
COMPONENT = re.compile(r"(\w+):\{(?:[^{}]*,)?component:[^{}]*?" + NEEDED.pattern)
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
  for (const part of gradio_config.components)
    if (part.props.elem_id === 'tabs') part.props.selected = {tab};
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
    """Return the first group of every match in a script of Gradio, with the files at the places in the last one.

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
    """

    def __init__(self, blocks: gr.Blocks, static: str, extensions: str = "") -> None:
        components = blocks.get_config_file()["components"]
        common, kinds = list_files()
        used = list(dict.fromkeys(file for part in components for file in kinds.get(part["type"], [])))
        used = [file for file in used if file not in common]
        self.has_style = bool(common)
        self.css = "\n".join(
            [
                *map(read_asset, _styles(common)),
                blocks.theme_css,
                (BUNDLE / "pages.css").read_text(encoding="utf-8"),
                *map(read_asset, _styles(used)),
            ]
        )
        tabs = (part["props"] for part in components if part["type"] == "tabitem")
        self.tabs = {tab["id"] for tab in tabs if "opens-first" in (tab["elem_classes"] or [])}
        scripts = [f"./assets/{file}" for file in [*common, *used] if file.endswith(".js")]
        # only what every page needs comes before our own script, because a browser opens six connections
        scripts.insert(len(common) - len(_styles(common)), f"{static}bundle/main.js?v={VERSION}")
        # Gradio does not load a stylesheet that the page names, even if it is disabled
        links = [
            f'<link rel="stylesheet" href="./assets/{file}" disabled>' for file in _styles([*common, *used])
        ]
        links += [f'<link rel="modulepreload" href="{address}">' for address in scripts]
        self.values = {
            "static": static,
            "version": VERSION,
            "styles": hashlib.sha256(self.css.encode()).hexdigest()[:12],
            "links": "\n".join(links),
            "extensions": extensions,
        }

    def fill(self, send: Send, query: str) -> Send:
        """Return where the app sends the page, which reaches ``send`` with our head and opens with the query's tab."""
        asked = parse_qs(query).get("tab", [""])[0]
        head = HEAD.format(tab=json.dumps(asked if asked in self.tabs else None), **self.values)
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


def _styles(files: Iterable[str]) -> list[str]:
    return [file for file in files if file.endswith(".css")]
