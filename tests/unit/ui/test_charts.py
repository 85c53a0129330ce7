"""Charts: small, described, in the page's own colours, and true to the numbers they are given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import altair
import pandas as pd
import pytest
from gradio.components.plot import PlotData

from coeval.ui.components import charts

NAN = float("nan")
WORDS = "What the chart shows, in words."


def estimates() -> pd.DataFrame:
    rows = [
        ("one", 0.7, 0.6, 0.8, ".70 [.60, .80]"),
        ("two", -0.2, -0.4, 0.1, "−.20"),
        ("three", NAN, NAN, NAN, "undefined"),
    ]
    return pd.DataFrame(rows, columns=["label", "value", "low", "high", "text"]).assign(about="about it")


def pairwise(names: list[str]) -> pd.DataFrame:
    rows = [(a, b, 0.5, ".50", "both") for a in names for b in names if a != b]
    return pd.DataFrame(rows, columns=["a", "b", "value", "text", "about"])


def actions() -> pd.DataFrame:
    rows = [("Score", "approve", 0.75, 3), ("Score", "revise", 0.25, 1)]
    return pd.DataFrame(rows, columns=["label", "action", "share", "n"]).assign(text="approve 75.0 · n 4")


def crossed() -> pd.DataFrame:
    rows = [(str(x), str(y), 1, 0.5) for x in (1, 9, 10) for y in (1, 9, 10)]
    return pd.DataFrame(rows, columns=["x", "y", "n", "share"])


def sources() -> pd.DataFrame:
    rows = [("a", "People", 3.0, 2.5, 3.5), ("a", "Model", 4.0, NAN, NAN)]
    return pd.DataFrame(rows, columns=["label", "series", "value", "low", "high"]).assign(about="about it")


DRAWN: dict[str, Callable[[], Any]] = {
    "alpha_forest": lambda: charts.alpha_forest(estimates(), WORDS),
    "heatmap": lambda: charts.heatmap(pairwise(["a", "b", "c"]), WORDS, ["a", "b", "c"]),
    "action_bars": lambda: charts.action_bars(actions(), WORDS),
    "confusion": lambda: charts.confusion(crossed(), WORDS, x="the person's", y="the draft's"),
    "pairs": lambda: charts.pairs(sources(), WORDS, title="mean score"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_is_described_and_fits_its_card(name: str) -> None:
    spec = read(DRAWN[name]())
    altair.Chart.from_dict(spec)  # checks it against the schema of Vega-Lite
    assert spec["description"] == WORDS
    assert spec["width"] == "container"
    assert spec["usermeta"]["embedOptions"] == {"renderer": "svg", "actions": False}


@pytest.mark.parametrize("name", DRAWN)
def test_a_chart_takes_every_colour_from_the_page(name: str) -> None:
    spec = read(DRAWN[name]())
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(spec))
    named = [
        value for key, value in walk(spec) if re.search(r"color$|^fill$|^stroke$|^range$", key, re.IGNORECASE)
    ]
    painted = [
        one
        for value in named
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str)
    ]
    assert painted
    assert all(value.startswith("var(--") for value in painted)


def read(chart: PlotData) -> dict[str, Any]:
    """Return the specification that a page draws."""
    return dict(json.loads(chart.plot))


def walk(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield key, value
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def data(chart: PlotData) -> list[list[dict[str, Any]]]:
    """The rows that each layer draws."""
    spec = read(chart)
    return [layer["data"]["values"] for layer in spec.get("layer", [spec])]


def layer(chart: Any, mark: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in read(chart)["layer"] if one["mark"]["type"] == mark)
    return found


def test_the_forest_shows_krippendorffs_lines_and_reaches_below_zero() -> None:
    chart = charts.alpha_forest(estimates(), WORDS)
    assert [(row["value"], row["name"]) for row in data(chart)[0]] == [
        (0.667, "tentative"),
        (0.8, "reliable"),
    ]
    axis = layer(chart, "circle")["encoding"]["x"]
    # the lowest limit is -.4 and 1 stays in view
    assert axis["scale"]["domain"] == [-0.4, 1.0]
    assert axis["axis"]["values"] == [0.667, 0.8, -0.4, -0.2, 0.0, 0.2, 0.4, 1.0]


def test_an_undefined_estimate_has_its_text_but_no_point() -> None:
    *_, whiskers, points, texts = data(charts.alpha_forest(estimates(), WORDS))
    assert [row["label"] for row in points] == [row["label"] for row in whiskers] == ["one", "two"]
    assert [row["text"] for row in texts] == [".70 [.60, .80]", "−.20", "undefined"]


def test_names_beside_a_heatmap_are_whole_and_its_shades_are_named() -> None:
    names = ["Simulated annotator 1", "Simulated annotator 2"]
    cells, _ = read(charts.heatmap(pairwise(names), WORDS, names))["layer"]
    for axis in "xy":
        found = cells["encoding"][axis]["axis"]
        assert "labelExpr" not in found and found["labelLimit"] >= 320
    shade = cells["encoding"]["opacity"]
    assert shade["legend"]["values"] == ["below .667", ".667 to .8", ".8 or more"]
    assert shade["scale"]["range"] == sorted(shade["scale"]["range"][:3]) + [0.0]


def test_a_heatmap_of_many_people_leaves_out_the_figures_but_not_the_hover() -> None:
    few, many = ["a", "b"], [f"person {n}" for n in range(30)]
    assert len(read(charts.heatmap(pairwise(few), WORDS, few))["layer"]) == 2
    spec = read(charts.heatmap(pairwise(many), WORDS, many))
    assert [one["mark"]["type"] for one in spec["layer"]] == ["rect"]
    assert spec["layer"][0]["encoding"]["tooltip"][0]["field"] == "about"


def test_actions_stack_in_their_order_each_in_its_own_colour() -> None:
    spec = charts.action_bars(actions(), WORDS)
    scale = layer(spec, "bar")["encoding"]["color"]["scale"]
    assert scale["domain"] == ["approve", "revise", "delete", "add"]
    assert scale["range"] == ["var(--approve)", "var(--revise)", "var(--delete)", "var(--add)"]
    assert [(row["action"], row["order"]) for row in data(spec)[0]] == [("approve", 0), ("revise", 1)]


def test_only_what_has_an_interval_has_whiskers() -> None:
    whiskers, points = data(charts.pairs(sources(), WORDS, title="mean"))
    assert [row["series"] for row in whiskers] == ["People"]
    assert [row["series"] for row in points] == ["People", "Model"]
