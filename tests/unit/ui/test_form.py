"""A form reads what its components send, and shows what is stored."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr
import pytest

from coeval.ui.tabs import Form


@dataclass(frozen=True)
class Stored:
    name: str = "a"
    count: int | None = None
    rate: float = 0.5
    share: float = 0.25
    kept: bool = True
    people: tuple[str, ...] = ("Ada",)


def make_form() -> Form:
    form = Form({"share": lambda percent: percent / 100}, {"share": lambda share: 100 * share})
    form["name"] = gr.Textbox()
    form["count"] = gr.Number(precision=0)
    form["rate"] = gr.Textbox()
    form["share"] = gr.Slider(0, 100)
    form["kept"] = gr.Checkbox()
    form["people"] = gr.Dropdown([], multiselect=True)
    return form


def test_the_values_of_the_inputs_are_the_attributes() -> None:
    form = make_form()
    form.reads["rate"] = float
    given = form.read(["b", 3.0, "0.1", 40, True, ["Bo", "Cy"]])
    assert Stored(**given) == Stored("b", 3, 0.1, 0.4, True, ("Bo", "Cy"))


def test_an_empty_field_is_empty_in_its_kind() -> None:
    given = make_form().read([None, None, None, 0, None, None])
    assert given == {"name": "", "count": 0, "rate": "", "share": 0, "kept": False, "people": ()}


def test_a_stored_value_is_shown_whole_or_by_some_of_its_names() -> None:
    form = make_form()
    assert list(form.show(Stored()).values()) == ["a", 0, "0.5", 25, True, ("Ada",)]
    assert form.show(Stored(name="c"), ["name"]) == {form["name"]: "c"}


def test_the_values_are_as_many_as_the_inputs() -> None:
    with pytest.raises(ValueError, match="zip"):
        make_form().read(["only one"])
