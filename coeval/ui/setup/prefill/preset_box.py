"""Set-up, Pre-fill: a published way to judge fills in the form, and can bring its criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.llm.presets.preset import Preset
from coeval.llm.presets.registry import PRESETS, get_preset
from coeval.study.criteria.listed import establish_preset
from coeval.study.drafting.run_settings import RunSettings
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Panel, Update, need_task


class PresetBox(Panel):
    """Chooses a preset, says what it is, and establishes its criteria where it has some."""

    def build(self) -> None:
        choices = [("None", ""), *((preset.title, name) for name, preset in PRESETS.items())]
        self.preset = gr.Dropdown(choices, value="", label="Preset", elem_id="prefill-preset")
        self.about = View(elem_id="preset-about")
        self.take = gr.Button(
            "Establish its criteria", visible=False, elem_id="preset-criteria", scale=0, size="sm"
        )

    def fill(self, fields: Mapping[str, Any]) -> None:
        """Have a choice fill in these components of the form, by the names of a run's settings."""
        self.fields = fields
        self.outputs = [self.about, self.take, *fields.values()]
        self.on(self.preset.input, self.on_choose, [self.preset])
        self.on(self.take.click, self.on_take, [self.preset], self.about)

    def on_choose(self, person: Person, slug: str, name: str | None) -> Update:
        preset = get_preset(name) if name else None
        shown = RunSettings(**(preset.settings if preset else {}))  # type: ignore[arg-type]
        return {
            self.about: preset_view(preset) if preset else None,
            self.take: gr.Button(visible=bool(preset and preset.criteria)),
            **{part: show_value(name, getattr(shown, name)) for name, part in self.fields.items()},
        }

    def on_take(self, person: Person, slug: str, name: str | None) -> Node:
        established = establish_preset(self.context, person, need_task(slug), name or "")
        members = (el("li", f"{one.name}, {one.scale}: {one.text}") for one in established.criteria)
        return el(
            "div.notes", el("p", f"Criteria set {established.version} is in force:"), el("ul", *members)
        )


def show_value(name: str, value: Any) -> Any:
    """A setting as its component holds it; what is not set is empty, or 0 where the component is a number.

    >>> show_value("temperature", 0.7), show_value("temperature", None), show_value("samples", None)
    ('0.7', '', 0)
    """
    if name in ("temperature", "top_p"):
        return "" if value is None else f"{value:g}"
    return (value or 0) if name in ("samples", "max_tokens") else value


def preset_view(preset: Preset) -> Node:
    """Where a preset comes from, and what is different here."""
    return el(
        "div.notes",
        el("p", f"{preset.source}."),
        el("ul", *(el("li", fact) for fact in preset.facts)),
        el("p", "Different here: ", *(f"{difference} " for difference in preset.differences)),
    )
