"""Where a method changed, the team of a study from before reads once what changed, with old and new figures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Person, Role
from coeval.errors import NotAllowedError
from coeval.rules.method_changes import CHANGES
from coeval.stats import build_report
from coeval.stats.basis import UNAIDED, Basis
from coeval.store import Store
from coeval.store.engines import met_changes
from coeval.ui.app.agreement.sections import get_pages
from coeval.usecases.access import Context, require_task
from coeval.usecases.reports import shown_figures as news_module
from coeval.usecases.reports.shown_figures import get_method_news, mark_method_news_read
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.old_file import open_old_file
from tests.support.studies.scored_study import scored

CHANGELOG = Path(__file__).parents[3] / "coeval" / "CHANGELOG.md"
NEXT = replace(CHANGES[0], id="a-later-change", what="A later change", why="The method of before was wrong")


@pytest.fixture
def old(tmp_path: Path) -> Context:
    return open_old_file(tmp_path)


def test_the_page_of_changes_lists_what_the_code_lists() -> None:
    section = CHANGELOG.read_text(encoding="utf-8").split("### Your numbers")[1].split("###")[0]
    rows = re.findall(r"(?m)^\| (.+?) \| (.+?) \|", section)
    assert rows[0] == ("What changed", "Why")
    assert rows[1:] == [(one.what, one.why) for one in CHANGES]
    assert len({one.id for one in CHANGES}) == len(CHANGES)


def test_of_an_old_file_each_of_the_team_is_told_once(old: Context) -> None:
    owner, other = sign_in(old, "Olu")[0], replace(sign_in(old, "Rea")[0], role=Role.RESEARCHER)
    news = get_method_news(old, owner, "demo")
    assert news and news.changes == CHANGES and not news.figures
    assert news.earlier_copy == "old.db.before-m024_planted_error"
    assert (Path(old.store.address).parent / news.earlier_copy).is_file()
    mark_method_news_read(old, owner, "demo")
    mark_method_news_read(old, owner, "demo")
    assert get_method_news(old, owner, "demo") is None
    assert get_method_news(old, other, "demo") == news
    # nor after the next start
    old.store.close()
    again = replace(old, store=Store(old.store.address))
    assert get_method_news(again, owner, "demo") is None and get_method_news(again, other, "demo") == news
    again.store.close()


def test_an_annotator_neither_sees_nor_ends_it(old: Context) -> None:
    annotator = Person("annotator 1", Role.ANNOTATOR, id=2)
    for use in (get_method_news, mark_method_news_read):
        with pytest.raises(NotAllowedError):
            use(old, annotator, "demo")


def test_a_study_without_a_score_from_before_has_no_news(old: Context, context: Context) -> None:
    owner = sign_in(old, "Olu")[0]
    import_study(
        old, owner, replace(scored(["Ann", "Ben"]), task=replace(scored(["Ann"]).task, slug="later"))
    )
    assert get_method_news(old, owner, "later") is None and get_method_news(old, owner, "demo")


@pytest.mark.sqlite
def test_a_new_file_has_none_ever(context: Context) -> None:
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, scored(["Ann", "Ben", "Cid"]))
    get_report(context, owner, "demo")
    assert get_method_news(context, owner, "demo") is None
    again = replace(context, store=Store(context.store.address))
    assert get_method_news(again, owner, "demo") is None
    again.store.close()


def upgrade(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the database be opened by the next version, in which one more method has changed."""
    for module in (met_changes, news_module):
        monkeypatch.setattr(module, "CHANGES", (*CHANGES, NEXT))
    for module in (met_changes, news_module, news_module):
        monkeypatch.setattr(module, "METHODS", NEXT.id)
    with context.store.write() as db:
        met_changes.meet_changes(db)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_the_next_upgrade_shows_old_and_new_figures(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], n_documents=20, blind=20))
    report = get_report(context, owner, "demo")
    headline = report["agreement"]["headline"]
    upgrade(context, monkeypatch)
    news = get_method_news(context, owner, "demo")
    assert news and news.changes == (NEXT,) and not any(one.now for one in news.figures)
    (alpha,) = (one.before for one in news.figures if one.kind == "alpha")
    assert (alpha.value, alpha.low, alpha.high, alpha.scores) == (
        *(pytest.approx(headline[name]) for name in ("value", "ci_low", "ci_high")),
        headline["drafts_in_view"]["of"],
    )
    means = {one.part: one.before.value for one in news.figures if one.kind == "system_mean"}
    assert means == {row["system"]: pytest.approx(row["human_mean"]) for row in report["systems"]}
    rates = {one.part: one.before.value for one in news.figures if one.kind == "winning_rate"}
    judged = report["alignment"]["runs"][0]["per_criterion"]
    assert (
        rates == {part["criterion"]: part["alt_test"]["winning_rate"] for part in judged} and len(rates) == 2
    )
    with context.store.read() as db:
        task = require_task(db, "demo")
    other = {"agreement": report["agreement"] | {"headline": headline | {"value": 0.125}}}
    news_module.keep_shown(context.store, task, build_report, other)
    news = get_method_news(context, owner, "demo")
    assert news
    (change,) = (one for one in news.figures if one.kind == "alpha")
    assert change.now == replace(alpha, value=0.125) and change.before == alpha
    mark_method_news_read(context, owner, "demo")
    assert get_method_news(context, owner, "demo") is None


def test_the_tab_keeps_the_same_figures_as_the_report(old: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = sign_in(old, "Olu")[0]
    get_report(old, owner, "demo")
    old.store.close()
    again = replace(old, store=Store(old.store.address))
    upgrade(again, monkeypatch)
    # as the tab opens them
    for section, basis in (("agreement", Basis(arm=UNAIDED)), ("model", Basis()), ("systems", Basis())):
        list(get_pages(again, owner, "demo", section, basis))
    news = get_method_news(again, owner, "demo")
    assert news and {one.kind for one in news.figures} == {"alpha", "system_mean"}
    for one in news.figures:
        assert one.now and one.now.scores == one.before.scores
        assert (one.now.value, one.now.low) == pytest.approx((one.before.value, one.before.low))
    again.store.close()


def test_an_undefined_figure_is_kept_as_such(context: Context) -> None:
    """One person alone has no agreement, and so no interval."""
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, scored(["Ann"]))
    get_report(context, owner, "demo")
    with context.store.read() as db:
        kept = {row["kind"]: row for row in met_changes.list_figures(db, require_task(db, "demo").id)}
    assert kept["alpha"]["value"] is None and kept["alpha"]["low"] is None
    assert kept["system_mean"]["value"] is not None
