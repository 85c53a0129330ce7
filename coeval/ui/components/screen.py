"""Parts of the page that the browser builds by itself: Gradio gives them a place, and nothing more.

The template is constant, so no text can become markup. The value only says what to show and for whom; the
scripts under ``static/`` fetch and save it by the JSON routes of ``study_app``, past Gradio's queue.
"""

from __future__ import annotations

from typing import Any, Literal

import gradio as gr

TEMPLATE = '<div class="coeval-mount">Loading…</div>'
BOOTSTRAP = """
window.coevalReady(() => window.coeval.screen(%r, element.querySelector('.coeval-mount'), props, watch, trigger));
/* events that can be listened to: 'submit' */
"""
Value = dict[str, Any]


class Screen(gr.HTML):
    """The scrutiny of a task, one's own ballot, or the owner's decisions on the count.

    The value is ``{"task": slug, "person": text}`` or None; ``person`` only keeps apart what the browser stores
    for different people, so it may be any text that is theirs alone; ``language`` is what the words are in. A
    ballot and decisions add ``round`` and ``revision``, by which they see that there is something newer to fetch.
    ``submit`` fires after a save.
    """

    def __init__(
        self,
        value: Value | None = None,
        *,
        screen: Literal["scrutiny", "ballot", "decisions"] = "scrutiny",
        **options: Any,
    ) -> None:
        self.screen = screen
        super().__init__(
            value=value,
            html_template=TEMPLATE,
            js_on_load=BOOTSTRAP % screen,
            apply_default_css=False,
            **options,
        )

    def preprocess(self, payload: Any) -> None:
        """Nothing is believed from the browser here."""
        return None

    def postprocess(self, value: Any) -> Any:
        return value

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}
