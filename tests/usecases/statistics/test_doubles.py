"""One quantity has one value, one interval and one name: in ``stats --json``, and on every page of the two examples."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from coeval.settings import load_settings
from coeval.stats.basis import Basis
from coeval.stats.estimates import Estimate
from coeval.store import Store
from coeval.ui.app.agreement.sections import SECTIONS, get_pages
from coeval.ui.components.number_words import interval, percent
from coeval.ui.components.view import Node
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import ensure_demo

STUDIES = ("demo", "finished-example")

SHARED = {
    "value": "the value of an estimate",
    "mean": "the mean of a criterion, time or distribution",
    "ordinal": "alpha of a part", "nominal": "alpha of a part", "interval": "alpha of a part",
    "percent": "of a part", "ac1": "of a part", "ac2": "of a part", "fleiss": "of a part",
    "kept": "the share of a part's scores",
}  # fmt: skip
"""Names of numbers that several sections have, because each is about another part of the study."""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    path = tmp_path_factory.mktemp("examples") / "coeval.db"
    made = Context(Store(path), load_settings({}, db=path))
    ensure_demo(made)
    return made


@pytest.fixture(scope="module", params=STUDIES)
def slug(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def report(context: Context, slug: str) -> dict[str, Any]:
    return get_report(context, OPERATOR, slug)


def walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every entry of a document with its path; an entry of a list by its own name."""
    yield path, value
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from walk(entry, (*path, key))
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from walk(entry, (*path, name_of(entry, place)))


def name_of(entry: Any, place: int) -> str:
    keys = ("run", "source", "name", "criterion", "system", "annotator", "arm", "group", "a", "b")
    named = [str(entry[key]) for key in keys if isinstance(entry, dict) and entry.get(key) is not None]
    return f"[{', '.join(named) or place}]"


def list_estimates(report: dict[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Every estimate with an interval: its value and limits, by its path."""
    return {
        path: entry
        for path, entry in walk(report)
        if isinstance(entry, dict)
        and isinstance(entry.get("value"), float)
        and entry.get("ci_low") is not None
    }


def is_fraction(value: float) -> bool:
    """Whether a value is a share of few things, which unlike quantities have in common: .5 of many is no double."""
    return abs(Fraction(value).limit_denominator(1000) - Fraction(value)) < 1e-12


def test_an_equal_value_has_an_equal_interval(report: dict[str, Any]) -> None:
    """Two estimators of one quantity give the same value and different limits: adoption was .24 twice."""
    by_value = defaultdict(list)
    for path, entry in list_estimates(report).items():
        if not is_fraction(entry["value"]):
            by_value[round(entry["value"], 10)].append(
                (path, round(entry["ci_low"], 8), round(entry["ci_high"], 8))
            )
    doubles = {value: found for value, found in by_value.items() if len({limits[1:] for limits in found}) > 1}
    assert not doubles


def test_the_name_of_a_quantity_is_in_one_section(report: dict[str, Any]) -> None:
    """The share of planted errors caught was .87 in one section and .89 in another."""
    sections = defaultdict(set)
    for path, entry in walk(report):
        named = [part for part in path if not part.startswith("[")]
        is_number = isinstance(entry, float) or (isinstance(entry, dict) and "value" in entry)
        if len(named) > 1 and is_number and named[-1] not in SHARED | dict.fromkeys(DETAILS):
            sections[named[-1]].add(named[0])
        if path and path[-2:-1] == ("measures",):
            sections[path[-1].strip("[]")].add(path[0])
    doubled = {name: found for name, found in sections.items() if len(found) > 1}
    assert not {name: found for name, found in doubled.items() if name not in ALLOWED}, doubled


DETAILS = (
    "ci_low", "ci_high", "se", "p_value", "p_holm", "p_bh", "people_ci_low", "people_ci_high", "difference", "shown",
    "blind", "other", "rate", "share", "n", "df", "margin", "epsilon",
)  # fmt: skip
"""Details of an estimate, which every section has."""

ALLOWED = {
    "mean_seconds": "the time of all, of a person and of an arm are in the section on time",
    "alpha": "the answer repeats the headline",
}


def test_the_answer_and_the_means_repeat_the_numbers_of_their_sections(report: dict[str, Any]) -> None:
    headline, answer = report["agreement"]["headline"], report["answer"]
    assert answer["alpha"] == headline["value"]
    assert [answer["ci_low"], answer["ci_high"]] == [headline.get("ci_low"), headline.get("ci_high")]
    of_people = {
        row["system"]: row["mean"]
        for row in report["behaviour"]["distributions"]
        if row["source"] == "people"
    }
    assert {
        row["system"]: row["human_mean"] for row in report["systems"]
    }.items() <= of_people.items() or not of_people


def cards(node: Node | None) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node["class"] == "card tile":
            yield node
        for child in node["children"]:
            yield from cards(child)


def texts(node: Any) -> str:
    return node if isinstance(node, str) else " ".join(texts(child) for child in node["children"])


def list_cards(context: Context, slug: str, basis: Basis) -> Iterator[tuple[str, str, float, str]]:
    """Every card of the pages that open with these scores: its page, title, exact value, and interval in words."""
    for section, shown in SECTIONS.items():
        if shown.unaided is not basis.unaided:
            continue
        *_, page = get_pages(context, OPERATOR, slug, section, basis)
        for tile in page.tiles:
            for card in cards(tile):
                title, big, *rest = card["children"]
                value = big["attributes"].get("data-value")
                if value is None:
                    continue
                span = re.search(r"95% (\[[^]]*\])", texts(card))
                yield section, texts(title), float(value), span[1] if span else ""


@pytest.mark.parametrize("unaided", [False, True])
def test_every_card_has_a_number_of_the_document_with_its_interval(
    context: Context, slug: str, unaided: bool
) -> None:
    if slug == "demo" and unaided:
        pytest.skip("nobody has scored the demo")
    report = get_report(context, OPERATOR, slug, Basis(unaided=unaided))
    numbers = {round(entry, 9) for _, entry in walk(report) if isinstance(entry, (int, float))}
    spans = defaultdict(set)
    for _, entry in walk(report):
        if isinstance(entry, dict) and entry.get("ci_low") is not None:
            for value in entry.values():
                if isinstance(value, float):
                    spans[round(value, 9)] |= in_words(entry)
    found = list(list_cards(context, slug, Basis(unaided=unaided)))
    assert found or slug == "demo", "the finished example has cards"
    by_title = defaultdict(set)
    for section, title, value, span in found:
        assert round(value, 9) in numbers, (section, title, value)
        assert not span or span in spans[round(value, 9)], (
            section,
            title,
            value,
            span,
            spans[round(value, 9)],
        )
        by_title[title].add((value, span))
    assert not {title: numbers for title, numbers in by_title.items() if len(numbers) > 1}


def in_words(entry: dict[str, Any]) -> set[str]:
    value = Estimate(0.0, ci_low=entry["ci_low"], ci_high=entry["ci_high"])
    return {interval(value), interval(value, percent)}


def test_the_document_is_json(report: dict[str, Any]) -> None:
    assert json.loads(json.dumps(report, allow_nan=False)) == report
