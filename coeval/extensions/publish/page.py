"""Agreement, below the paper files: publish the study as one HTML file. The finished example under Help."""

from __future__ import annotations

import zipfile
from dataclasses import asdict
from typing import Annotated
from urllib.parse import urlencode

import gradio as gr
from fastapi import Depends, FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from coeval.domain import Person, Role
from coeval.extensions.publish.publication import Choice, publish_file
from coeval.ui.app.downloads import open_spooled, send_file
from coeval.ui.components.view import View, el
from coeval.ui.server.identity import get_person
from coeval.ui.server.plain_pages import HELP
from coeval.ui.tabs import LoadedPanel, Update, more_settings, need_task
from coeval.usecases.access import Context

EXAMPLE = HELP / "example.html"
"""The finished example, made by ``python -m coeval publish --task finished-example --names``."""

APART = {"Content-Security-Policy": "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"}
"""The page of a study is shown apart from the app: its script could not use the owner's session."""


class PublishBox(LoadedPanel):
    """The choice of what leaves, what that is, and the link to the file; only owners see it."""

    def build(self) -> None:
        with gr.Column(visible=False, elem_id="publish-box") as self.box, more_settings(
            "publish-study", "Publish the study as one HTML file"
        ):  # fmt: skip
            note = "Readers open it without a server, and compute the figures again without a person or a system. "
            View(el("p.note", note, el("a", "An example", href="help/example.html", target="_blank")))
            with gr.Row():
                texts = gr.Checkbox(True, label="Texts of items and drafts", elem_id="publish-texts")
                comments = gr.Checkbox(False, label="Comments and reasons", elem_id="publish-comments")
                names = gr.Checkbox(False, label="Names of people", elem_id="publish-names")
            with gr.Row(elem_classes="actions"):
                look = gr.Button("See what leaves", elem_id="publish-see", scale=0, min_width=220)
            self.shown = View(elem_id="publish-leaving")
        fields = [texts, comments, names]
        self.outputs = [self.box, self.shown]
        self.on(look.click, self.on_look, fields, [self.shown])
        for field in fields:
            self.on(field.input, self.on_change, outputs=[self.shown])

    def load(self, person: Person, slug: str) -> Update:
        visible = person.role is Role.OWNER and bool(slug)
        return {self.box: gr.Column(visible=visible), self.shown: None}

    def on_change(self, person: Person, slug: str) -> Update:
        """Discard what was shown, because it no longer matches the fields."""
        return {self.shown: None}

    def on_look(self, person: Person, slug: str, *values: bool | None) -> Update:
        choice = Choice(*map(bool, values))
        published = publish_file(self.context, person, need_task(slug), choice)
        query = urlencode({name: int(value) for name, value in asdict(choice).items()})
        address = f"download/{slug}/published?{query}"
        links = [el("a.ghost.main", "Download the file", href=address, download="")]
        if len(published.files) == 1:
            links.insert(0, el("a.ghost", "Look at the page", href=f"{address}&look=1", target="_blank"))
        lines = el("ul", *(el("li", line) for line in published.leaving))
        return {self.shown: el("div.card", el("h4", "This leaves"), lines, el("p.downloads", *links))}


def add_published(app: FastAPI, context: Context) -> None:
    """Add the routes of a published study and of the example."""

    @app.get("/download/{slug}/published")
    def download_published(
        request: Request, slug: str, choice: Annotated[Choice, Depends()], look: bool = False
    ) -> Response:
        files = publish_file(context, get_person(context, request), slug, choice, stem=slug).files
        if look and len(files) == 1:
            return HTMLResponse(files[f"{slug}.html"], headers=APART)
        target = open_spooled()
        if len(files) == 1:
            target.write(files[f"{slug}.html"].encode())
            return send_file(target, f"{slug}.html", "text/html; charset=utf-8")
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return send_file(target, f"{slug}-published.zip", "application/zip")

    @app.get("/help/example.html")
    def show_example() -> Response:
        return FileResponse(EXAMPLE, media_type="text/html; charset=utf-8")
