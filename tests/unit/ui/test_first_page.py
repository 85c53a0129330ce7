"""The first page if Gradio names its parts in another way: it loads them in chains, with our script and styles."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.routes import App
from starlette.requests import Request
from starlette.types import Message

from coeval.ui.run import IDLE_SECONDS, build_app
from coeval.ui.server import first_page
from coeval.ui.server.gradio_gate import GradioGate
from coeval.usecases.access import Context

STYLE = '<link rel="stylesheet" crossorigin href="./assets/index.css">'
SCRIPT = '<script type="module" crossorigin src="./assets/index.js"></script>'
CHAIN = 'm.f=["./Blocks.js","./Blocks.css"];load(()=>import("./Blocks.js"),__vite__mapDeps([0,1]))'


def read_filled(page: first_page.FirstPage, html: str) -> str:
    """Return the page that the browser gets for Gradio's ``html``."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def answer() -> None:
        request = Request({"type": "http", "query_string": b"tab=two", "headers": []})
        filled = page.fill(send, request, "uid-of-ana")
        await filled({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        await filled({"type": "http.response.body", "body": html.encode()})

    asyncio.run(answer())
    start, body = sent
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    return str(body["body"].decode())


@pytest.mark.parametrize(
    ("style", "script", "chain"),
    [
        ('<link href="/build/index.css" rel="stylesheet">', '<script src="/build/index.js"></script>', CHAIN),
        (STYLE.replace(".css", ".css?v=7"), SCRIPT, CHAIN),
        (STYLE, SCRIPT.replace(".js", ".js?v=7"), CHAIN),
        (STYLE, SCRIPT, "load('./Blocks.js')"),
        (STYLE, SCRIPT, CHAIN.replace('"./', '"./assets/')),
        (STYLE, SCRIPT, CHAIN.replace("[0,1]", "[0,7]")),
    ],
    ids=["other tags", "stamped style", "stamped script", "no list", "another folder", "no such place"],
)
def test_a_page_of_another_gradio_has_our_script_and_all_styles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str, script: str, chain: str
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    files = {"index.css": ".of-gradio {}", "index.js": chain, "Blocks.css": "", "Blocks.js": ""}
    for name, text in files.items():
        (assets / name).write_text(text)
    html = f"<html><head>{style}{script}</head><body></body></html>"
    (tmp_path / "index.html").write_text(html)
    monkeypatch.setattr(first_page, "FRONTEND", tmp_path)
    monkeypatch.setattr(first_page, "list_files", first_page.list_files.__wrapped__)
    with gr.Blocks() as blocks, gr.Tabs(), gr.Tab("Two", id="two", elem_classes="opens-first"):
        gr.Textbox()
    blocks.theme_css = ":root {}"  # Gradio sets it when the page is mounted
    page = first_page.FirstPage(blocks, "ui/")
    filled = read_filled(page, html)
    assert '<script type="module" src="ui/bundle/main.js' in filled and 'href="page.css?v=' in filled
    assert 'part.props.selected = "two"' in filled and script in filled
    stated = filled.index("coevalPerson = 'uid-of-ana'")
    assert stated < filled.index('src="ui/bundle/main.js')
    assert ".coeval" in page.css
    assert style in filled or ".of-gradio" in page.css


def test_values_of_the_opened_tab_are_in_the_page_and_cannot_end_its_script() -> None:
    with gr.Blocks() as blocks, gr.Tabs(), gr.Tab("Two", id="two", elem_classes="opens-first"):
        gr.Textbox()
    blocks.theme_css = ":root {}"
    page = first_page.FirstPage(blocks, "ui/", open_tab=lambda request, tab: {"box": f"</script>{tab}"})
    filled = read_filled(page, "<html><head></head><body></body></html>")
    assert 'window.coevalOpened = {"box": "\\u003c/script>two"}' in filled


def test_a_start_writes_no_files_beside_the_sources() -> None:
    """Gradio would write the types of our components there, in a twentieth of a second."""
    assert not list(Path(first_page.__file__).parents[1].rglob("*.pyi"))


def test_an_idle_page_looks_for_events_as_rarely_as_it_is_told(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [getattr(route, "app", None) for route in build_app(context).routes]
    queues = [place.app.get_blocks()._queue for place in places if isinstance(place, GradioGate)]
    waits: list[float] = []
    for queue in queues:

        async def note_wait(seconds: float, queue: Any = queue) -> None:
            waits.append(seconds)
            queue.stopped = True

        monkeypatch.setattr("gradio.queueing.asyncio.sleep", note_wait)
        asyncio.run(queue.start_processing())
    assert waits == [IDLE_SECONDS] * 2


def test_a_start_creates_only_the_apps_that_are_served_and_keeps_signatures(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradio would create three for each page, and ask Python for a signature with every component."""
    created: list[App] = []
    create = App.create_app

    def note_created(*arguments: Any, **options: Any) -> App:
        created.append(create(*arguments, **options))
        return created[-1]

    monkeypatch.setattr(App, "create_app", staticmethod(note_created))
    app = build_app(context)
    places = [getattr(route, "app", None) for route in app.routes]
    assert created == [place.app for place in places if isinstance(place, GradioGate)]
    assert created == [each.get_blocks().app for each in created]
    assert inspect.signature(gr.Dropdown.__init__) is inspect.signature(gr.Dropdown.__init__)
