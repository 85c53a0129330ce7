"""One name, one number: a version of the criteria and an arm are chosen for a whole report, and old versions stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.domain import Person, Study
from coeval.errors import InputError
from coeval.stats.basis import Basis, list_choices
from coeval.stats.frames import StudyFrames
from coeval.stats.report.agreement import agreement_section, people_alphas
from coeval.ui.app.agreement.figures import Page
from coeval.ui.app.agreement.rater_agreement import MODEL, heatmap_figure
from coeval.ui.app.agreement.sections import SECTIONS, get_pages
from coeval.usecases.access import Context
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.reports.statistics import get_reading, get_report, list_versions
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


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_every_figure_names_its_scores(filled: Context, owner: Person, section: str) -> None:
    # people change nothing in scores that they give without a draft
    for basis in (Basis(), Basis(unaided=section != "changes")):
        page = whole(filled, owner, section, basis)
        assert labels(page), section
        for told in labels(page):
            assert told.startswith("criteria version 1 · "), (section, told)
    arms = {told.split(" · ")[1] for told in labels(page)}
    compared = "36 assisted and 36 blind scores saved after a readable draft, none planted"
    if section == "draft":
        assert compared in arms and "blind and first scores" not in arms
    elif section == "changes":
        assert arms == {"all arms"}
    elif section == "model":
        assert arms == {"36 blind scores"}
    else:
        assert arms == {"blind and first scores", *([compared] if section == "agreement" else [])}


@pytest.mark.parametrize("basis", [Basis(), Basis(unaided=True)], ids=str)
def test_the_cards_and_the_chart_rest_on_the_same_scores(
    context: Context, owner: Person, basis: Basis
) -> None:
    """The first card is the mean of the alphas in the chart below it, whichever scores the page is about."""
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], blind=3))
    page = whole(context, owner, "agreement", basis)
    shown = float(page.tiles[0]["children"][1]["attributes"]["data-value"])  # type: ignore[index, call-overload]
    chart = next(figure for figure in page.figures if figure.name == "alpha-by-criterion")
    assert shown == pytest.approx(chart.data["value"].mean())
    words = "blind and first scores" if basis.unaided else "all arms"
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
    cut = Basis(unaided=True).cut(make_frames(rows))
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


def test_no_pair_of_raters_counts_a_planted_error() -> None:
    """Two people follow the planted 1 of the second instance, so that they agree in it; the model said 4."""
    rows = [
        {"annotator": who, "instance": f"i{k}", "score": score, "planted_score": k == 1}
        for who, given in (("a", (5, 1, 2, 4)), ("b", (4, 1, 2, 5)))
        for k, score in enumerate(given)
    ]
    drafts = [{"instance": f"i{k}", "score": score} for k, score in enumerate((5, 4, 2, 4))]
    study = make_frames(rows, drafts)
    section = agreement_section(study)
    assert section.counts.n_units == 4 and section.planted == 2
    assert [(pair.a, pair.b, pair.n) for pair in section.pairwise] == [
        ("a", "b", 3),
        ("a", "llm", 3),
        ("b", "llm", 3),
    ]
    figure = heatmap_figure(section.pairwise)
    assert set(figure.data[["a", "b"]].to_numpy().ravel()) == {MODEL, "a", "b"}
    assert figure.basis == "planted errors left out"
    assert "Highest: " in figure.words
    alone = heatmap_figure(section.pairwise[:1]).words
    assert alone.startswith("Ordinal alpha of a and b: ") and "Highest" not in alone


@pytest.fixture
def asked(context: Context, owner: Person) -> Context:
    """Three people scored two criteria, a part of it blind; a second version keeps one of the two."""
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], n_documents=8, blind=2))
    establish_list(context, owner, "demo", ["Use simple words.", "Name a source."])
    return context


def count(report: dict) -> list[tuple[str, int]]:  # type: ignore[type-arg]
    return [(one["criterion"], one["n_ratings"]) for one in report["agreement"]["per_criterion"]]


def test_version_and_the_draft_choose_the_scores(asked: Context, owner: Person) -> None:
    newest, first = get_report(asked, owner, "demo"), get_report(asked, owner, "demo", Basis(1))
    assert newest["criteria"] == ["Use simple words.", "Name a source."]
    assert len(first["criteria"]) == 2 and first["criteria"] != newest["criteria"]
    blind = get_report(asked, owner, "demo", Basis(1, unaided=True))
    for whole, part in zip(count(first), count(blind), strict=True):
        assert whole[1] > part[1] > 0
    assert blind["drafts"] == first["drafts"], "what compares arms rests on all of them"


def test_scores_from_asking_again_count_only_where_they_are_wanted(context: Context, owner: Person) -> None:
    """Half of the drafts were asked for again: the headline leaves them out, and names their correlation beside it."""
    study = scored(["Ann", "Ben", "Cid"], n_documents=8, blind=2)
    (run, *_) = study.runs
    assert not get_again(study)
    halved = [replace(draft, rung="asked again" if n % 2 else "schema") for n, draft in enumerate(run.drafts)]
    import_study(context, owner, replace(study, runs=(replace(run, drafts=tuple(halved)),)))
    usual, all_in = (
        get_report(context, owner, "demo", Basis(asked_again=wanted)) for wanted in (False, True)
    )

    def judged(report: dict[str, Any]) -> int:
        return sum(run["n_units"] for run in report["alignment"]["runs"])

    assert 0 < judged(usual) < judged(all_in)
    (note,) = [note for note in usual["notes"] if "asked again" in note]
    n = sum(draft.rung == "asked again" for draft in halved)
    assert note.startswith(
        f"{n} of {len(halved)} model scores were given only when the model was asked again."
    )
    assert "left out of every figure of the model" in note and note.count("(n = ") == 2
    assert any("They are counted." in note for note in all_in["notes"])
    assert all_in["drafts"]["arms"] == usual["drafts"]["arms"]


def get_again(study: Study) -> list[str]:
    return [draft.rung for run in study.runs for draft in run.drafts if draft.rung]


def test_what_there_is_not_is_named(asked: Context, owner: Person) -> None:
    with pytest.raises(InputError, match="has no version 9 of its criteria; there are: 1, 2"):
        get_report(asked, owner, "demo", Basis(9))


def test_the_command_takes_what_the_tab_has(asked: Context, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["stats", "--task", "demo", "--version", "1", "--unaided"]
    main([*given, "--db", str(asked.store.address)])
    title, *_ = capsys.readouterr().out.splitlines()
    assert "(criteria version 1, blind and first scores)" in title
