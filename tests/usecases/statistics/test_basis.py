"""One name, one number: a version of the criteria and an arm are chosen for a whole report, and old versions stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from coeval.domain import Person
from coeval.stats.basis import ALL_ARMS, UNAIDED, Basis, OnBasis, list_choices
from coeval.stats.frames import StudyFrames
from coeval.stats.report.agreement import agreement_section, people_alphas
from coeval.ui.app.agreement.figures import Page
from coeval.ui.app.agreement.rater_agreement import MODEL, heatmap_figure
from coeval.ui.app.agreement.sections import SECTIONS, get_pages
from coeval.usecases.access import Context
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.reports.statistics import get_reading, list_versions
from coeval.usecases.study_import import import_study
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


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_every_figure_names_its_scores(filled: Context, owner: Person, section: str) -> None:
    for basis in (Basis(), Basis(arm="assisted")):
        page = whole(filled, owner, section, basis)
        assert labels(page), section
        for told in labels(page):
            assert told.startswith("criteria version 1 · "), (section, told)
    arms = {told.split(" · ")[1] for told in labels(page)}
    compared = "36 assisted and 36 blind scores with a readable draft, none planted"
    if section == "draft":
        assert compared in arms and "assisted scores" not in arms
    elif section == "model":
        assert arms == {"36 scores given with a draft in view"}
    else:
        assert arms == {"assisted scores", *([compared] if section == "agreement" else [])}


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


@pytest.mark.parametrize("basis", [Basis(), Basis(arm=UNAIDED), Basis(arm="assisted")], ids=str)
def test_the_cards_and_the_chart_rest_on_the_same_scores(
    context: Context, owner: Person, basis: Basis
) -> None:
    """The first card is the mean of the alphas in the chart below it, whichever scores the page is about."""
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], blind=3))
    page = whole(context, owner, "agreement", basis)
    shown = float(page.tiles[0]["children"][1]["attributes"]["data-value"])  # type: ignore[index, call-overload]
    chart = next(figure for figure in page.figures if figure.name == "alpha-by-criterion")
    assert shown == pytest.approx(chart.data["alpha"].mean())
    words = {ALL_ARMS: "all arms", UNAIDED: "blind and first scores"}.get(basis.arm, "assisted scores")
    # the effect of the draft compares the arms, whichever are chosen, and says so
    *others, effect = (told for told in labels(page) if words in told or "assisted and" in told)
    assert (
        len(others) + 1 == len(labels(page))
        and sum("assisted and" in told for told in (*others, effect)) == 1
    )


def test_scores_that_no_draft_led_are_blind_ones_and_those_before_the_draft() -> None:
    rows = [
        {"annotator": "a", "instance": "1", "arm": "blind", "score": 2},
        {"annotator": "a", "instance": "2", "arm": "first", "score": 5, "first_score": 3, "draft_score": 5},
        {"annotator": "a", "instance": "3", "arm": "first", "score": 5, "first_score": None},
        {"annotator": "a", "instance": "4", "arm": "assisted", "score": 4},
    ]
    cut = Basis(arm=UNAIDED).cut(make_frames(rows))
    assert dict(zip(cut.scores["instance"], cut.scores["score"], strict=True)) == {"1": 2, "2": 3}


def test_the_tab_opens_with_scores_that_no_draft_led_where_there_are_enough() -> None:
    rows = [
        {"annotator": who, "instance": f"i{n}", "arm": arm, "score": 1 + (n + len(arm)) % 5}
        for n in range(24)
        for who in "ab"
        for arm in ["blind" if n % 2 else "assisted"]
    ]
    assert list_choices(make_frames(rows)).unaided
    assert not list_choices(make_frames(rows[:30])).unaided, (
        "7 or 8 blind instances are too few for a headline"
    )
    assert not list_choices(make_frames([row | {"arm": "blind"} for row in rows])).unaided, (
        "they are all there is"
    )


def test_planted_errors_count_for_all_of_the_agreement_page_or_for_none_of_it() -> None:
    """Two people follow the planted 1 of the second instance, so that they agree in it; the model said 4."""
    rows = [
        {"annotator": who, "instance": f"i{k}", "score": score, "planted_score": k == 1}
        for who, given in (("a", (5, 1, 2, 4)), ("b", (4, 1, 2, 5)))
        for k, score in enumerate(given)
    ]
    drafts = [{"instance": f"i{k}", "score": score} for k, score in enumerate((5, 4, 2, 4))]
    study = make_frames(rows, drafts)
    for basis, n, names in ((Basis(), 4, ["a", "b"]), (Basis(planted=False), 3, [MODEL, "a", "b"])):
        section = agreement_section(basis.cut(study))
        figure = heatmap_figure(section.pairwise, section.planted)
        assert set(figure.data[["a", "b"]].to_numpy().ravel()) == set(names) and not figure.basis
        between = figure.data[(figure.data["a"] == "a") & (figure.data["b"] == "b")].iloc[0]
        assert between["n_units"] == n and between["alpha"] == pytest.approx(section.humans["ordinal"])
    whole_report = agreement_section(study)
    assert [(pair.a, pair.b, pair.n) for pair in whole_report.pairwise] == [
        ("a", "b", 4),
        ("a", "llm", 3),
        ("b", "llm", 3),
    ]
