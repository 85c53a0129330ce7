"""The editable table as a Gradio component: a pandas DataFrame in, a pandas DataFrame out.

Its template is constant and its browser side (``static/table/gradio_table.js``) builds every line with
``textContent``: no text can become markup. What comes back is checked field by field; the drafted text is
never read from it.
"""

from __future__ import annotations

import html
from typing import Any

import gradio as gr
import pandas as pd
from pydantic import ValidationError

from coeval.errors import InputError
from coeval.ui.components.payloads import parse_table, refuse
from coeval.ui.components.review_table.sheet import Sheet, build_sheet, payload_of_sheet, read_payload

TEMPLATE = '<div class="coeval-mount">Loading…</div>'
BOOTSTRAP = """
const start = () => window.coeval.reviewTable(element.querySelector('.coeval-mount'), props, watch, trigger);
if (window.coeval) start(); else window.addEventListener('coeval-ready', start, { once: true });
/* events that can be listened to: 'submit' */
"""


class ReviewTable(gr.HTML):
    """Rows with the four actions, their reasons and new texts, a score, and added rows.

    ``value`` is a DataFrame as ``review_table.sheet.build_sheet`` takes it. ``kind`` is what its drafted
    rows are called in the DataFrame that comes back. ``submit`` fires on the confirming key or button.
    """

    def __init__(self, value: pd.DataFrame | None = None, *, kind: str = "criterion", **options: Any) -> None:
        self.kind = kind
        super().__init__(
            value=value, html_template=TEMPLATE, js_on_load=BOOTSTRAP, apply_default_css=False, **options
        )

    def preprocess(self, payload: Any) -> Any:
        """The decisions as a DataFrame (see ``read_payload``).

        Raises:
            gr.Error: what was sent has not the shape, a text is too long, or there are too many lines.
        """
        try:
            return read_payload(_read(payload), self.kind)
        except InputError as error:
            raise gr.Error(html.escape(str(error)), title="Not saved", print_exception=False) from error

    def postprocess(self, value: Any) -> Any:
        """The sheet of a DataFrame; None shows nothing."""
        return None if value is None else build_sheet(value)

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}


def _read(payload: Any) -> Any:
    """What was sent, or what an untouched sheet amounts to; a table never shown amounts to nothing."""
    if payload is None:
        return parse_table({"rev": 0, "rows": [], "added": []})
    if not (isinstance(payload, dict) and "key" in payload):
        return parse_table(payload)
    try:
        return payload_of_sheet(Sheet.model_validate(payload))
    except ValidationError as error:
        refuse(error)
