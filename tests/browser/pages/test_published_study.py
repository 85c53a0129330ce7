"""The published file in Chromium, from disk and with the network cut: its figures are those of ``stats --json``."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from coeval.datasets.example_studies import SLUG, load_finished_example
from coeval.domain import Arm, Criterion, ImportedSubmission, Instance, Scale, Study, Task
from coeval.extensions.publish import publication
from coeval.extensions.publish.publication import Choice, publish_file
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import FINISHED, import_study
from tests.support.screens.axe import faults_in_both_themes
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running
from tests.support.studies import hostile_study
from tests.support.studies.attack_texts import XSS

if TYPE_CHECKING:
    from playwright.sync_api import Page

Triple = tuple[float, ...]
Open = Callable[..., "Page"]
NAN = float("nan")


@pytest.fixture
def import_apart(tmp_path: Path) -> Callable[[Study], Context]:
    """Import a study into a file of its own."""

    def run(study: Study) -> Context:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
        context = Context(Store(path), load_settings({}, db=path))
        import_study(context, OPERATOR, study)
        return context

    return run


@pytest.fixture
def open_published(browser: Any, tmp_path: Path) -> Any:
    """Open a published study from disk in a browser without a network; errors and refusals of its policy fail."""
    contexts, said = [], []

    def run(context: Context, slug: str, **choice: bool) -> Page:
        files = publish_file(context, OPERATOR, slug, Choice(**{"names": True, **choice})).files
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        where = browser.new_context(
            viewport={"width": 1440, "height": 900}, offline=True, accept_downloads=True
        )
        contexts.append(where)
        page: Page = where.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda asked: said.append(asked.url) if asked.url.startswith("http") else None)
        page.goto((tmp_path / "study.html").as_uri())
        page.locator("html[data-ready=yes]").wait_for()
        return page

    yield run
    for where in contexts:
        where.close()
    assert not said, said


def read_figures(page: Page) -> dict[str, Triple]:
    """The exact figures of the page, by what they are of."""
    found = page.evaluate("""() => {
      const read = (name, {dataset}) => [name, ['value', 'low', 'high'].map((each) => Number(dataset[each]))];
      const rows = [...document.querySelectorAll('table.figures tbody tr:not([hidden])')];
      return [
        read('headline', document.getElementById('tile-headline')),
        read('pooled', document.getElementById('tile-pooled')),
        ...rows.map((row) => read(row.cells[0].textContent, row)),
      ];
    }""")
    return {name: tuple(NAN if one is None else one for one in values) for name, values in found}


def list_expected(context: Context, slug: str) -> dict[str, Triple]:
    """The same figures as ``stats --json`` has them."""
    report = get_report(context, OPERATOR, slug)
    agreement = report["agreement"]

    def triple(value: float | None, spread: dict[str, Any]) -> Triple:
        found = [value, spread.get("ci_low"), spread.get("ci_high")]
        return tuple(NAN if one is None else one for one in found)

    headline, pooled = agreement["headline"], agreement["intervals"]["humans"]["ordinal"]
    return {
        "headline": triple(headline["value"], headline),
        "pooled": triple(agreement["humans"]["ordinal"], pooled),
        **{one["criterion"]: triple(one["humans"]["ordinal"], one) for one in agreement["per_criterion"]},
        **{one["system"]: triple(one["human_mean"], one) for one in report["systems"]},
    }


def assert_same(page: Page, expected: dict[str, Triple]) -> None:
    figures = read_figures(page)
    assert list(figures) == list(expected)
    for name, values in expected.items():
        assert figures[name] == pytest.approx(values, abs=1e-9, nan_ok=True), name


def leave_out(page: Page, *names: str) -> None:
    page.evaluate("document.getElementById('choices').open = true")
    for name in names:
        page.get_by_role("checkbox", name=name, exact=True).uncheck()


def without(study: Study, *, person: str = "", criterion: str = "", system: str = "") -> Study:
    """The study in which one of them never was."""
    instances = tuple(one for one in study.instances if not system or one.system != system)
    ids = {one.external_id for one in instances}

    def stays(one: Any) -> bool:
        return one.instance in ids and one.criterion != criterion

    return replace(
        study,
        instances=instances,
        criteria=tuple(one for one in study.criteria if one.text != criterion),
        runs=tuple(replace(one, drafts=tuple(filter(stays, one.drafts))) for one in study.runs),
        submissions=tuple(one for one in study.submissions if one.person != person and stays(one)),
    )


def make_drawn(
    draw: Callable[[random.Random], float], scale: Scale, documents: int, systems: str = "ab"
) -> Study:
    """A study of drawn scores: four people, of whom each leaves some out; no run."""
    rng = random.Random(7)
    instances = tuple(
        Instance(f"{n}{system}", f"Why {n}?", f"Because {n}.", f"d{n}" if n % 5 else "", system)
        for n in range(documents)
        for system in systems
    )
    criteria = tuple(Criterion(text, scale=scale) for text in ("Be true.", "Be brief."))
    work = []
    for one in instances:
        for criterion in criteria:
            middle = draw(rng)
            for person in ("Ana", "Ben", "Cem", "Dan"):
                score = min(max(middle + rng.choice((-1, 0, 0, 1)), scale.low), scale.high)
                if rng.random() < 0.8:
                    made = ImportedSubmission(
                        person, one.external_id, criterion.text, float(score), arm=Arm.BLIND
                    )
                    work.append(made)
    return Study(Task("drawn", "Drawn", scale=scale), instances, criteria, (), tuple(work))


def spread_out(rng: random.Random) -> int:
    return rng.randint(1, 5)


def skewed(rng: random.Random) -> int:
    return 7 if rng.random() < 0.97 else 2


def fine(rng: random.Random) -> float:
    return round(rng.uniform(1, 5), 2)


STUDIES = {
    "few documents": make_drawn(spread_out, Scale(1, 5), 6),
    "skewed": make_drawn(skewed, Scale(1, 5), 14),
    "near-continuous": make_drawn(fine, Scale(1, 5), 12),
    "one document": make_drawn(spread_out, Scale(1, 5), 1),
    "no documents": make_drawn(spread_out, Scale(0, 3), 25, systems="a"),
    "all the same": make_drawn(lambda rng: 99, Scale(1, 2), 12),
}


@pytest.mark.parametrize("name", STUDIES)
def test_figures_equal_the_report_for_every_kind_of_scores(
    name: str, import_apart: Any, open_published: Open
) -> None:
    context = import_apart(STUDIES[name])
    page = open_published(context, "drawn")
    assert_same(page, list_expected(context, "drawn"))
    leave_out(page, "Ben")
    assert_same(page, list_expected(import_apart(without(STUDIES[name], person="Ben")), "drawn"))


def test_without_one_the_figures_are_those_of_a_study_that_never_had_it(
    import_apart: Any, open_published: Open
) -> None:
    study = load_finished_example(FINISHED)
    context = import_apart(study)
    page = open_published(context, SLUG)
    whole = list_expected(context, SLUG)
    assert_same(page, whole)
    lefts = {"person": "Simulated annotator 2", "system": "hasty", "criterion": study.criteria[0].text}
    for kind, name in lefts.items():
        leave_out(page, name)
        assert name in page.locator("#left-out").inner_text()
        other = list_expected(import_apart(without(study, **{kind: name})), SLUG)
        assert other["pooled"] != whole["pooled"]
        assert_same(page, other)
        page.get_by_role("checkbox", name=name, exact=True).check()
        assert_same(page, whole)


def test_readers_find_link_and_save_items(import_apart: Any, open_published: Open, tmp_path: Path) -> None:
    """Also on a phone and with a screen reader."""
    page = open_published(import_apart(load_finished_example(FINISHED)), SLUG)
    for fold in (".item summary", "#choices > summary", ".item .draft summary"):
        page.locator(fold).first.click()
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert faults_in_both_themes(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    items, count = page.locator("#item-list > details"), page.locator("#item-count")
    assert count.inner_text() == "50 of 60 items"
    page.get_by_role("button", name="Show more").click()
    assert items.count() == 60
    page.locator("select[name=differ]").select_option(label="2 points apart or more")
    apart = items.count()
    assert 0 < apart < 60 and items.locator(".wide").count() == apart
    page.get_by_label("Sort").select_option(label="Highest mean first")
    page.get_by_label("Find").fill("tap-")
    assert 0 < items.count() < 4
    page.goto(page.url.split("#")[0] + "#item-clock-hasty")
    opened = page.locator("#item-clock-hasty[open]")
    opened.wait_for()
    assert opened.locator("mark").count() > 0 and opened.locator("summary").first.evaluate(
        "one => one === document.activeElement"
    )
    assert opened.locator("th[scope=row]").count() == 3 and "Simulated annotator 5" in opened.inner_text()
    for name, head in (("scores.csv", "item"), ("items.csv", "item"), ("drafts.csv", "item")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        path = tmp_path / name
        saved.value.save_as(path)
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        assert rows[0][0] == head and len(rows) > 60
    assert len(rows[1]) == 5


def test_hostile_texts_stay_texts(import_apart: Any, open_published: Open, tmp_path: Path) -> None:
    path = tmp_path / "hostile.db"
    context = Context(Store(path), load_settings({}, db=path))
    hostile_study.fill(context, sign_in(context, "Olu")[0], XSS)
    page = open_published(context, hostile_study.SLUG, comments=True)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_timeout(300)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_timeout(300)
    assert page.evaluate("window.__xss ?? null") is None and len(page.frames) == 1
    bad = "iframe, object, embed, base, img, video, a[href^='javascript:' i], main script, main style"
    assert page.locator(bad).count() == 0
    text = page.locator("body").inner_text()
    assert all(one.strip() in text for one in XSS[:8])


def test_larger_data_lie_beside_the_page(
    import_apart: Any, open_published: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publication, "LARGEST", 1000)
    context = import_apart(STUDIES["few documents"])
    assert_same(open_published(context, "drawn"), list_expected(context, "drawn"))


def test_the_report_s_interval_stands_where_it_deals_documents_into_groups(
    import_apart: Any, open_published: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coeval.stats.agreement import unit_kinds

    monkeypatch.setattr(unit_kinds, "LARGE", 10)
    limit = "const LARGE = 5_000_000;"
    assert limit in publication.join_scripts()
    small = publication.join_scripts().replace(limit, "const LARGE = 10;")
    monkeypatch.setattr(publication, "join_scripts", lambda: small)
    study = make_drawn(spread_out, Scale(1, 5), 60)
    context = import_apart(study)
    page = open_published(context, "drawn")
    assert_same(page, list_expected(context, "drawn"))
    leave_out(page, "Ben")
    value, low, _ = read_figures(page)["pooled"]
    assert value == value and low != low, "no interval, rather than one of other groups"


def test_an_owner_sees_what_leaves_and_takes_the_file(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "served.db"
    context = Context(Store(path), load_settings({}, db=path))
    sign_in(context, "Olu")
    import_study(context, OPERATOR, load_finished_example(FINISHED))
    with Running(context) as server:
        enter(page, server.url, "Olu")
        page.goto(f"{server.url}/?task={SLUG}&tab=agreement")
        unfold(page, "Publish the study as one HTML file")
        page.get_by_label("Names of people").check()
        page.get_by_role("button", name="See what leaves").click()
        shown = page.locator("#publish-leaving")
        shown.get_by_text("810 scores of 5 people, by name.").wait_for()
        with page.expect_popup() as looked:
            shown.get_by_role("link", name="Look at the page").click()
        looked.value.locator("html[data-ready=yes]").wait_for()
        assert_same(looked.value, list_expected(context, SLUG))
        assert looked.value.evaluate("origin") == "null", "the page could act as the owner"
        with page.expect_download() as taken:
            shown.get_by_role("link", name="Download the file").click()
        assert taken.value.suggested_filename == f"{SLUG}.html"
        taken.value.save_as(tmp_path / "taken.html")
        page.get_by_label("Names of people").uncheck()
        shown.get_by_text("810 scores").wait_for(state="detached")
        page.goto(f"{server.url}/help/example.html")
        page.locator("html[data-ready=yes]").wait_for()
        assert page.locator("#tile-headline .big").inner_text() == ".74"
        page.goto((tmp_path / "taken.html").as_uri())
        page.locator("html[data-ready=yes]").wait_for()
        assert_same(page, list_expected(context, SLUG))
