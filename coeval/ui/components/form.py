"""A form: each component is declared once, under the name of the attribute that it reads and shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

Convert = Callable[[Any], Any]


@dataclass(slots=True)
class Form:
    """Components by the names of a stored value's attributes; ``form[name] = component`` declares one.

    An event has ``inputs`` as inputs, and its handler passes their values to ``read``. By default, an empty field is
    read as False, 0, () or "", which depends on its kind. ``reads`` and ``shows`` are other conversions, by name.
    """

    reads: dict[str, Convert] = field(default_factory=dict)
    shows: dict[str, Convert] = field(default_factory=dict)
    components: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.components[name]

    def __setitem__(self, name: str, component: Any) -> None:
        self.components[name] = component

    @property
    def inputs(self) -> list[Any]:
        """Return the components."""
        return list(self.components.values())

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return the attributes by name from the values of ``inputs``."""
        return {name: self._read(name, value) for name, value in zip(self.components, values, strict=True)}

    def show(self, stored: object, names: Collection[str] = ()) -> dict[Any, Any]:
        """Return the components with the attributes of a stored value: those in ``names``, or all."""
        shown = names or self.components
        return {self.components[name]: self._show(name, getattr(stored, name)) for name in shown}

    def _read(self, name: str, value: Any) -> Any:
        component = self.components[name]
        if name in self.reads:
            return self.reads[name](value)
        if isinstance(component, gr.Checkbox):
            return bool(value)
        if isinstance(component, gr.Number | gr.Slider):
            return int(value or 0) if getattr(component, "precision", None) == 0 else float(value or 0)
        if isinstance(component, gr.CheckboxGroup) or getattr(component, "multiselect", False):
            return tuple(value or ())
        return value or ""

    def _show(self, name: str, value: Any) -> Any:
        component = self.components[name]
        if name in self.shows:
            return self.shows[name](value)
        if isinstance(component, gr.Number):
            return value or 0
        if isinstance(component, gr.Textbox):
            return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        return value


def read_line(text: str | None) -> str:
    """Return a text without the spaces around it.

    >>> read_line(" gpt "), read_line(None)
    ('gpt', '')
    """
    return (text or "").strip()


def read_count(value: float | None) -> int | None:
    """Return a whole number; None if the field is empty or 0.

    >>> read_count(3.0), read_count(0)
    (3, None)
    """
    return int(value) if value else None
