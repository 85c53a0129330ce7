"""One name, one number: a version of the criteria and an arm are chosen for a whole report, and old versions stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coeval.domain import Person
from coeval.stats.basis import Basis, OnBasis, list_choices
from coeval.stats.frames import StudyFrames
from coeval.stats.report.agreement import people_alphas
from coeval.study.access import Context
from coeval.study.criteria.listed import establish_list
from coeval.study.importing.importing import import_study
from coeval.study.statistics import get_reading, list_versions
from coeval.ui.study_app.agreement.figures import Page
from coeval.ui.study_app.agreement.sections import SECTIONS, get_pages
from tests.support.studies.scored_study import scored
from tests.support.studies.stats_frames import make_frames


def alpha(study: StudyFrames) -> float:
    return float(people_alphas(study).humans["ordinal"])


def count_scores(study: StudyFrames) -> int:
    return len(study.scores)


@pytest.fixture
def filled(context: Context, owner: Person) -> Context:
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], blind=3))
    return context


def texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, list | tuple):
        for one in node:
            yield from texts(one)
    elif node is not None:
        yield from texts(node["children"])


def labels(page: Page) -> list[str]:
    """What every tile, table and chart says of the scores under it."""
    nodes = [node for node in (*page.tiles, *page.tables) if node is not None]
    told = [" ".join(texts(node["children"][-1])) for node in nodes if not isinstance(node, str)]
    return [*told, *(figure.basis for figure in page.figures)]


def whole(context: Context, person: Person, section: str, basis: Basis) -> Page:
    *_, last = get_pages(context, person, "demo", section, basis)
    return last


def test_the_numbers_of_an_old_version_stay(filled: Context, owner: Person) -> None:
    before = get_reading(filled, owner, "demo").get(alpha)
    establish_list(filled, owner, "demo", ["Use simple words.", "Name a source."])
    assert list_versions(filled, owner, "demo") == [1, 2]
    now = get_reading(filled, owner, "demo")
    assert now.get(count_scores) == 36, "one criterion of the two was scored"
    old = get_reading(filled, owner, "demo", version=1)
    assert old.get(count_scores) == 72 and old.get(alpha) == before
    assert get_reading(filled, owner, "demo", version=1) is old
    assert get_reading(filled, owner, "demo", version=2).version is None
    page = whole(filled, owner, "agreement", Basis(version=1))
    assert page.figures and all(told.startswith("criteria version 1 · ") for told in labels(page))


def test_an_arm_is_that_of_the_whole_report(filled: Context, owner: Person) -> None:
    reading = get_reading(filled, owner, "demo")
    assert reading.get(list_choices).arms == ("assisted", "blind")
    parts = [reading.get(OnBasis(count_scores, Basis(arm=arm))) for arm in ("assisted", "blind")]
    assert parts == [36, 36]
    by_hand = reading.read_frames()
    blind = by_hand.scores[by_hand.scores["arm"] == "blind"]
    found = reading.get(OnBasis(alpha, Basis(arm="blind")))
    assert found == alpha(make_frames(blind, criteria=tuple(by_hand.criteria)))
    assert found != reading.get(alpha)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_figure_names_its_scores(filled: Context, owner: Person, section: str) -> None:
    for basis in (Basis(), Basis(arm="assisted")):
        page = whole(filled, owner, section, basis)
        assert labels(page), section
        for told in labels(page):
            assert told.startswith("criteria version 1 · "), (section, told)
    arms = {told.split(" · ")[1] for told in labels(page)}
    assert arms == ({"all arms"} if section == "draft" else {"assisted scores"}) | (
        {"all arms"} if section == "agreement" else set()
    )


def test_planted_errors_are_counted_or_left_out() -> None:
    rows = [
        {"annotator": who, "instance": f"i{n}", "score": 1 + (n + who) % 3, "planted_score": n == 0}
        for n in range(4)
        for who in range(2)
    ]
    study = make_frames([row | {"annotator": f"p{row['annotator']}"} for row in rows])
    assert list_choices(study).planted
    out = Basis(planted=False).cut(study)
    assert len(study.scores) == 8 and len(out.scores) == 6
    assert Basis(planted=False).cut(study) is out and Basis().cut(study) is study
