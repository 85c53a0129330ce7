"""The scrutiny screen as a Gradio component: a constant element whose browser side does the work.

Its value only says which task and for whom; ``static/scrutiny/workbench.js`` fetches and saves steps by the routes of
``ui/api.py``, past Gradio's queue.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

TEMPLATE = '<div class="coeval-mount">Loading…</div>'
BOOTSTRAP = """
const start = () => window.coeval.workbench(element.querySelector('.coeval-mount'), props, watch);
if (window.coeval) start(); else window.addEventListener('coeval-ready', start, { once: true });
"""


class Workbench(gr.HTML):
    """Shows the steps of one person in one task.

    The value is ``{"task": slug, "person": text}`` or None; ``person`` only keeps apart what the browser
    stores for different people, so it may be any text that is theirs alone.
    """

    def __init__(self, value: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(
            value=value, html_template=TEMPLATE, js_on_load=BOOTSTRAP, apply_default_css=False, **options
        )

    def preprocess(self, payload: Any) -> None:
        """Nothing is believed from the browser here."""
        return None

    def postprocess(self, value: Any) -> Any:
        return None if value is None else {"task": str(value["task"]), "person": str(value["person"])}

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}
