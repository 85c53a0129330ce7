"""The strip under the top bar that tells owners when what people save is at risk."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person, Role
from coeval.study.hosting.snapshots import get_alert
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Event, Panel

EVERY_SECONDS = 15.0


class Alert(Panel):
    """Empty while all is well, and for everybody but owners."""

    def build(self) -> None:
        self.told = View(elem_id="alert")
        self.clock = gr.Timer(EVERY_SECONDS, active=False)
        self.on(self.clock.tick, self.tell, outputs=self.told, quiet=True)

    def load_on(self, event: Event) -> None:
        """Have an event show it, and the clock run for owners."""
        self.on(event, self.start, outputs=[self.told, self.clock], quiet=True)

    def start(self, person: Person, slug: str) -> list[Any]:
        owner = person.role is Role.OWNER
        return [self.tell(person, slug) if owner else "", gr.Timer(active=owner)]

    def tell(self, person: Person, slug: str) -> Node:
        alert = get_alert(self.context, person)
        return el("p.alert", alert, role="alert") if alert else ""
