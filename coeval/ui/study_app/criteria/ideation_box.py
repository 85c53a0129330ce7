"""Criteria, "Draft or write criteria": how the model is asked, as far as the form says it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.llm.ideation.criteria import MAX_EXAMPLES
from coeval.ui.components.numbers import read_decimal

NAMES = ("count", "examples", "temperature", "top_p", "templates")


def build_ideation() -> list[Any]:
    """The components, in the order of ``NAMES``."""
    with gr.Accordion("More settings", open=False, elem_id="ideation"):
        with gr.Row():
            count = gr.Number(5, precision=0, minimum=1, maximum=50, label="Criteria to ask for each time")
            examples = gr.Number(
                0, precision=0, minimum=0, maximum=MAX_EXAMPLES, label="Instances to show the model"
            )
        with gr.Row():
            temperature = gr.Textbox(
                "0.7",
                label="Temperature (empty: the model's own)",
                max_length=6,
                elem_id="ideation-temperature",
            )
            top_p = gr.Textbox("", label="top_p (empty: the model's own)", max_length=6)
        templates = gr.Textbox("", label="Folder with your copy of criteria.md (empty: ours)", max_length=500)
    return [count, examples, temperature, top_p, templates]


def read_ideation(values: tuple[Any, ...]) -> dict[str, Any]:
    """The form's values as what ``draft_criteria`` takes.

    Raises:
        InputError: a temperature or top_p is no number.
    """
    count, examples, temperature, top_p, templates = values
    return {
        "count": int(count or 5),
        "examples": int(examples or 0),
        "temperature": read_decimal("temperature", temperature, 2),
        "top_p": read_decimal("top_p", top_p, 1),
        "templates": (templates or "").strip(),
    }
