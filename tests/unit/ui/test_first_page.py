"""The first page if Gradio names its parts in another way: it loads them in chains, with our script and styles."""

from __future__ import annotations

import asyncio
from pathlib import Path

import gradio as gr
import pytest
from starlette.types import Message

from coeval.ui.server import first_page

STYLE = '<link rel="stylesheet" crossorigin href="./assets/index.css">'
SCRIPT = '<script type="module" crossorigin src="./assets/index.js"></script>'
CHAIN = 'm.f=["./Blocks.js","./Blocks.css"];load(()=>import("./Blocks.js"),__vite__mapDeps([0,1]))'


def read_filled(page: first_page.FirstPage, html: str) -> str:
    """Return the page that the browser gets for Gradio's ``html``."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def answer() -> None:
        filled = page.fill(send, "tab=two")
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
    assert ".coeval" in page.css
    assert style in filled or ".of-gradio" in page.css
