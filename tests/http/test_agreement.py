"""The Agreement tab: what it says of a study, to whom, and the files behind every number."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import (
    Arm,
    Draft,
    Group,
    ImportedSubmission,
    Person,
    Role,
    Run,
    Submission,
)
from coeval.errors import NotAllowedError
from coeval.stats import StudyFrames, agreement_section
from coeval.stats.estimates import Estimate
from coeval.stats.report.systems import SystemRow
from coeval.store.queries import criteria, drafts, people, reports, submissions, tasks
from coeval.ui.app.agreement import agreement_tab
from coeval.ui.app.agreement.sections import SECTIONS, Page, get_pages
from coeval.ui.app.agreement.systems import systems_answer
from coeval.ui.app.downloads import add_downloads
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.payloads import add_error_answers
from coeval.usecases import sessions as study_people
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_report, get_statistic
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.ui_steps import enter
from tests.support.serving.server import Running, new_context
from tests.support.studies.scored_study import scored

RESEARCHER = Person("Rui", Role.RESEARCHER)
ANNOTATOR = Person("Ana", Role.ANNOTATOR)


@pytest.fixture
def filled(context: Context) -> Context:
    """Three people, twelve instances by two systems, two criteria; a sixth of it blind."""
    import_study(context, OPERATOR, scored(["Ann", "Ben", "Cid"], blind=1))
    return context


def whole(context: Context, section: str, person: Person = RESEARCHER) -> Page:
    *_, last = get_pages(context, person, "demo", section)
    return last


def texts(node: Any) -> Iterator[str]:
    """Every text of a tree of nodes, or of several."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, list | tuple):
        for one in node:
            yield from texts(one)
    elif node is not None:
        yield from texts(node["children"])


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for child in node["children"]:
            yield from _nodes(child)


def said(page: Page) -> str:
    return " ".join(texts([page.answer, page.banner, *page.tiles, *page.tables]))


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_is_whole_at_last_and_fits_the_tab(filled: Context, section: str) -> None:
    pages = list(get_pages(filled, RESEARCHER, "demo", section))
    assert [page.whole for page in pages] == [False] * (len(pages) - 1) + [True]
    last = pages[-1]
    assert last.tiles and last.tables
    slots = agreement_tab._build_parts().slots
    placed = [figure for _, figure in agreement_tab._placed(slots, last.figures) if figure is not None]
    assert placed == list(last.figures) and bool(placed) == (CHARTS[section] > 0)
    assert len({figure.name for figure in last.figures}) == len(last.figures)
    for figure in last.figures:
        assert len(figure.words) > 20
        assert json.loads(figure.draw().plot)["description"] == figure.words
        assert not figure.data.empty
        assert figure.rows.endswith(".csv")


def test_what_came_first_is_what_stays(filled: Context) -> None:
    """The tab sends a chart once: a later stage may not change what it said."""
    first, *_, last = get_pages(filled, RESEARCHER, "demo", "agreement")
    early, late = first.figures[0], last.figures[0]
    assert early.name == late.name == "alpha-by-criterion"
    pd.testing.assert_frame_equal(early.data, late.data)
    assert first.tiles[0] == last.tiles[0] and first.answer == last.answer is not None
    assert "Krippendorff (2004)" in said(last)
    section = get_statistic(filled, RESEARCHER, "demo", agreement_section)
    assert early.data["value"].tolist() == [row.part.humans["ordinal"] for row in section.per_criterion]
    assert early.data["low"].tolist() == [row.part.interval["ci_low"] for row in section.per_criterion]


def test_the_numbers_of_the_page_are_those_of_the_report(filled: Context) -> None:
    report = get_report(filled, RESEARCHER, "demo")
    figure = next(one for one in whole(filled, "changes").figures if one.name == "actions")
    shares = figure.data.set_index(["kind", "action"])["share"]
    for kind in ("conclusion", "score", "evidence"):
        for action in ("approve", "revise", "delete", "add"):
            assert shares[kind, action] == report["actions"][kind][action]
    # assisted: 3 people x 10 instances x 2 criteria = 60 submissions, two evidence lines each
    assert figure.data.groupby("kind")["n"].sum().to_dict() == {
        "conclusion": 60,
        "score": 60,
        "evidence": 120,
    }
    tiles = [node for node in whole(filled, "systems").tiles if isinstance(node, dict)]
    means = {next(texts(tile)): float(tile["children"][1]["attributes"]["data-value"]) for tile in tiles}
    assert means == {row["system"]: row["human_mean"] for row in report["systems"]}
    assert list(means.values()) == sorted(means.values(), reverse=True), "the best stands first"


def test_one_document_gives_no_alpha(context: Context, owner: Person) -> None:
    study = make_study(1)
    criterion, instance = study.criteria[0].text, study.instances[0]
    scores = [
        ImportedSubmission(name, instance.external_id, criterion, score, arm=Arm.BLIND)
        for name, score in (("A", 2.0), ("B", 4.0))
    ]
    small = replace(study, instances=(instance,), runs=(), submissions=scores)
    assert str(import_study(context, owner, small)).endswith("added 1 instance, 2 scores by 2 people.")
    page, *_ = get_pages(context, RESEARCHER, "demo", "agreement")
    assert list(texts(page.tiles[0]))[:3] == ["Alpha, people", "–", "the scores are of 1 instance"]
    assert page.figures[0].data.empty and page.answer
    assert next(texts(page.answer)) == (
        "It is too early to say how far annotators agree. The scores are of 1 instance; at least 10 are needed."
    )


def test_the_best_system_is_named_only_if_the_others_differ() -> None:
    def system(
        name: str, mean: float, p: float = 0.001, clusters: int = 20, leading: bool = False
    ) -> SystemRow:
        value = Estimate(
            mean, ci_low=mean - 0.1, ci_high=mean + 0.1, clusters=clusters, resampled="documents"
        )
        others = {"A", "B", "C"} - {name}
        leads = {"B": {"difference": 1.5, "ci_low": 1.1, "ci_high": 1.9}} if leading else {}
        return SystemRow(name, 40, value, {}, value, 0, 40, dict.fromkeys(others, p), leads)

    def told(*rows: SystemRow) -> str:
        return next(texts(systems_answer(rows)))

    three = [system("A", 4.1), system("B", 3.5), system("C", 2.0)]
    assert told(*three) == "People score A highest: mean 4.10 (95% interval 4.00 to 4.20)."
    near = [system("A", 4.1, 0.4), system("B", 4.0, 0.4), system("C", 2.0)]
    assert told(*near).startswith("It is not certain which system is best: A has the highest mean, 4.10 (95%")
    assert told(*near).endswith("The scores do not separate it from B and C.")
    assert told(*[system(one, 3.0) for one in "AB"]).startswith(
        "No system is best: A and B share the highest"
    )
    assert (
        told(three[0])
        == "Only A has scores, so there is nothing to compare it with: mean 4.10 (95% interval 4.00 to 4.20)."
    )
    few = system("A", 4.1, clusters=6)
    assert told(few, system("B", 2.0)).endswith("The scores are of 6 documents; at least 10 are needed.")
    ahead = system("A", 4.1, clusters=8, leading=True)
    assert told(system("C", 1.0), system("B", 2.6), ahead) == (
        "A leads B by 1.50 [1.10, 1.90] in 8 documents; 10 are needed for the stated rate of error."
    )


def test_a_tile_says_where_the_models_mean_is_of_other_units_than_the_peoples(context: Context) -> None:
    study = scored(["Ann", "Ben"], blind=6)
    run = replace(study.runs[0], drafts=study.runs[0].drafts[:-2])
    work = tuple(replace(one, run="") for one in study.submissions)
    import_study(context, OPERATOR, replace(study, runs=(run,), submissions=work))
    tiles = [" ".join(texts(tile)) for tile in whole(context, "systems").tiles]
    assert [tile.count("(of 10 units; people 12)") for tile in sorted(tiles)] == [0, 1]


def test_before_the_first_score_every_section_says_so(context: Context) -> None:
    import_study(context, OPERATOR, make_study())
    for section in SECTIONS:
        page = whole(context, section)
        assert "Nobody has scored anything yet" in said(page) and not page.figures


def test_one_annotator_alone_has_no_agreement_and_is_told_why(context: Context) -> None:
    import_study(context, OPERATOR, scored(["Ann"], blind=1))
    figures = [figure for section in SECTIONS for figure in whole(context, section).figures]
    # one person gives neither an agreement nor a pattern beside others
    empty = {figure.name for figure in figures if figure.data.empty}
    assert empty == {"alpha-by-criterion"}
    drawn = [figure for figure in figures if not figure.data.empty]
    assert len(drawn) == 5 and all(figure.draw().plot for figure in drawn)
    page = whole(context, "agreement")
    verdict, *_ = texts(page.answer)
    assert verdict.startswith(
        "Agreement cannot be computed yet: no two people scored the same instance on the same criterion."
    )
    assert "undefined" not in " ".join(texts(page.tiles)) and "Alpha, people" not in said(page)
    assert any(note.startswith("Not computed for Alpha, people: no unit") for note in page.notes)
    forest = page.figures[0]
    assert forest.data.empty and "no unit" in forest.words


def test_without_drafts_the_sections_on_drafts_say_what_to_do(context: Context) -> None:
    study = scored(["Ann", "Ben"], blind=6)
    work = tuple(replace(one, run="") for one in study.submissions)
    import_study(context, OPERATOR, replace(study, runs=(), submissions=work))
    assert "Draft evaluations in Set-up" in said(whole(context, "changes"))
    assert "there are no drafts to compare" in said(whole(context, "model"))
    # all is blind: a share of blind assignments would not help
    effect = said(whole(context, "draft"))
    assert "Nobody has scored with the draft in view yet" in effect and "blind assignments" not in effect
    assert "in view" not in whole(context, "model").scope
    assert "Model" not in whole(context, "agreement").figures[1].data[["a", "b"]].to_numpy()
    assert "people and model" not in " ".join(texts(whole(context, "agreement").tables))
    assert "draft" not in " ".join(whole(context, "agreement").notes)


def test_annotators_see_one_sentence_and_no_number(filled: Context) -> None:
    with pytest.raises(NotAllowedError, match="owners or researchers"):
        list(get_pages(filled, ANNOTATOR, "demo", "agreement"))
    parts = agreement_tab._build_parts()
    (state,) = agreement_tab._states(filled, parts, ANNOTATOR, "demo", "agreement")
    assert "The team sees the statistics" in " ".join(texts(state[parts.tiles]))
    assert state[parts.downloads] is None and state[parts.tables] is None


def test_the_tab_draws_each_chart_once_keeps_it_and_hides_the_slots_left_over(filled: Context) -> None:
    """A page that is slow shows the last of several stages alone: it has to hold every chart."""
    parts = agreement_tab._build_parts()
    states = list(agreement_tab._states(filled, parts, RESEARCHER, "demo", "agreement"))
    sent = [[slot for slot in parts.slots if state.get(slot.plot)] for state in states]
    # first the forest, which is always shown, then the heatmap and, below, the actions
    main, wide, below = parts.slots
    assert sent[-1] == [main, wide, below] and sent[0] == [main]
    assert all(before == after[: len(before)] for before, after in pairwise(sent))
    for slot in (main, wide, below):
        assert len({id(state[slot.plot]) for state in states if state.get(slot.plot)}) == 1
    assert states[0][wide.head] is None and states[0][below.head] is None
    marks = [state[parts.tiles][-1]["attributes"]["data-whole"] for state in states]
    assert marks == ["no"] * (len(states) - 1) + ["yes"]


CALLS: list[int] = []


def counted(study: StudyFrames) -> int:
    CALLS.append(len(study.scores))
    return len(CALLS)


def test_a_statistic_is_computed_again_only_after_something_changed(filled: Context) -> None:
    CALLS.clear()
    assert [get_statistic(filled, RESEARCHER, "demo", counted) for _ in range(3)] == [1, 1, 1]
    import_study(filled, OPERATOR, scored(["Ann", "Ben", "Cid", "Dan"], blind=1))
    assert [get_statistic(filled, RESEARCHER, "demo", counted) for _ in range(2)] == [2, 2]
    # 3, then 4 people by 24 units
    assert CALLS == [72, 96]


def test_the_fingerprint_changes_with_everything_that_counts(filled: Context) -> None:
    def mark() -> tuple[Any, ...]:
        with filled.store.read() as db:
            return reports.get_fingerprint(db, 1)

    seen = [mark()]
    assert mark() == seen[0]
    with filled.store.write() as db:
        known = criteria.get_criteria_set(db, 1)
        run, other = drafts.get_shown_run(db, 1), drafts.add_run(db, 1, Run("p", "m", "second"), None)
        assert known is not None and run is not None
    seen.append(mark())
    ids = known.criteria[0].id
    with filled.store.write() as db:
        drafts.record_draft(db, other.id, Draft(1, ids, 3.0))
    seen.append(mark())
    with filled.store.write() as db:
        drafts.show_run(db, 1, other.id)
    seen.append(mark())
    with filled.store.write() as db:
        person = people.ensure_person(db, "Dan").id
        submissions.record_submission(db, Submission(person, 1, ids, 3.0, (), uid="dan-1"))
    seen.append(mark())
    with filled.store.write() as db:
        people.set_group(db, person, Group.EXPERT)
    seen.append(mark())
    with filled.store.write() as db:
        criteria.add_criteria_set(db, 1, [known.criteria[0]], "Olu")
    seen.append(mark())
    with filled.store.write() as db:
        tasks.add_instances(db, 1, [replace(make_study().instances[0], external_id="new")])
    seen.append(mark())
    assert len(set(seen)) == len(seen)


@pytest.fixture
def client(filled: Context) -> TestClient:
    app = FastAPI()
    add_error_answers(app)
    add_scrutiny_api(app, filled)
    add_downloads(app, filled)
    return TestClient(app, raise_server_exceptions=False)


def signed_in(context: Context, client: TestClient, name: str, role: Role) -> TestClient:
    study_people.sign_in(context, "Olu")  # the first person is the owner, whoever comes after is not
    _, token = study_people.sign_in(context, name)
    with context.store.write() as db:
        found = people.get_person(db, name)
        assert found is not None
        people.set_role(db, found.id, role)
    client.cookies.set(COOKIE, token)
    return client


def test_the_papers_tables_come_in_three_forms_with_the_methods(filled: Context, client: TestClient) -> None:
    signed_in(filled, client, "Rui", Role.RESEARCHER)
    answer = client.get("/download/demo/paper-tables.zip")
    files = zipfile.ZipFile(io.BytesIO(answer.content))
    names = set(files.namelist())
    assert {"methods.md", "tables.md", "tables.tex", "evaluation_actions.csv", "agreement.csv"} <= names
    report = get_report(filled, RESEARCHER, "demo")
    rows = {
        row["lines"]: row for row in csv.DictReader(io.TextIOWrapper(files.open("evaluation_actions.csv")))
    }
    assert float(rows["evidence"]["delete"]) == report["actions"]["evidence"]["delete"] == 0.5
    assert r"\begin{tabular}" in files.read("tables.tex").decode()
    assert "3 annotators" in files.read("methods.md").decode()


CHARTS = {"agreement": 3, "changes": 1, "model": 2, "systems": 0, "time": 0, "draft": 0}

DRAWN = """n => {
  const cards = [...document.querySelectorAll('#agreement-charts .chart')].filter(card => card.querySelector('h4'));
  const fits = card => card.querySelector('svg.marks')?.getBoundingClientRect().width / card.clientWidth > .9;
  return cards.length === n && cards.every(fits);
}"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    context = new_context(tmp_path_factory.mktemp("agreement"))
    study_people.sign_in(context, "Olu")
    import_study(context, OPERATOR, scored(["Ann", "Ben", "Cid"], blind=1))
    with Running(context) as server:
        yield server


def test_every_section_draws_its_charts_and_rows_and_files_are_taken_away(page: Any, live: Running) -> None:
    enter(page, live.url, "Olu")
    page.goto(f"{live.url}/?task=demo")
    page.get_by_role("tab", name="Agreement").click()
    page.locator("#agreement-charts svg.marks").first.wait_for()
    assert page.locator("#agreement-tiles .big").first.inner_text().startswith(".")
    for name in reversed(SECTIONS):
        page.locator(f"#agreement-section input[value={name}]").check(force=True)
        page.locator(f"#agreement-tiles [data-section={name}][data-whole=yes]").wait_for()
        page.wait_for_function(DRAWN, arg=CHARTS[name], timeout=60_000)
        labels = page.locator("#agreement-charts .vega-embed").evaluate_all(
            "all => all.map(e => e.ariaLabel)"
        )
        assert all(label and len(label) > 20 for label in labels)
    for link in ("#agreement-downloads .chart-data a", "#agreement-tiles >> text=Rows"):
        address = page.locator(link).first.evaluate("a => a.href")
        answer = page.request.get(address)
        assert answer.ok and answer.text().startswith("instance")
    page.get_by_text("Paper files and downloads").click()
    page.get_by_text("For other tools").click()
    for tool, file in (("Label Studio", "label-studio"), ("A file for each person", "coeval-release")):
        with page.expect_download() as taken:
            page.get_by_role("link", name=tool).click()
        assert taken.value.suggested_filename == f"demo-{file}.zip"
