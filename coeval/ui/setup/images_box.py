"""Set-up, Hosting: the hosts that images may come from."""

from __future__ import annotations

import gradio as gr

from coeval.domain import Person
from coeval.study.hosting.image_hosts import list_image_hosts, set_image_hosts
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import View, el
from coeval.ui.panel import Panel, Update, tell_done

ABOUT = (
    "A column of images holds https addresses or data: URIs. Addresses are shown only from the hosts listed here: "
    "whoever runs such a host sees who opens an image, and when. Images inside the file need no host."
)


class ImagesBox(Panel):
    """The list for every task of this server."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="image-hosts-box"):
            View(el("div", el("h4", "Images"), el("p.note", ABOUT)))
            self.hosts = gr.Textbox(
                label="Hosts that images may come from, one a line",
                info="For example images.example.org, or *.example.org for all below it. Pages that are open show "
                "them after a reload.",
                lines=2,
                max_length=10_000,
                interactive=False,  # until it is filled in: what somebody types is not overwritten
                elem_id="image-hosts",
            )
            with gr.Row(elem_classes="actions"):
                save = gr.Button("Save the hosts", elem_id="image-hosts-save", scale=0, min_width=180)
        self.outputs = [self.hosts]
        self.on(save.click, self.on_save, [self.hosts])

    def load(self, person: Person, slug: str) -> Update:
        hosts = "\n".join(list_image_hosts(self.context, person))
        return {self.hosts: gr.Textbox(hosts, interactive=True)}

    def on_save(self, person: Person, slug: str, names: str | None) -> Update:
        hosts = set_image_hosts(self.context, person, names or "")
        tell_done(f"Images may come from {plural(len(hosts), 'host')}.")
        return {self.hosts: "\n".join(hosts)}
