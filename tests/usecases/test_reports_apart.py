"""Large reports: computed by a process that ends, from one state of the file, and shown with their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Person, Role
from coeval.stats import build_report
from coeval.stats.frames import StudyFrames
from coeval.store.engines.sqlite_file import connect
from coeval.ui.app.agreement.sections import SECTIONS, get_pages
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports import statistics as kept
from coeval.usecases.reports.report_process import HelperEndedError
from coeval.usecases.reports.statistics import (
    EVERY,
    Reading,
    Readings,
    Statistic,
    compute_apart,
    get_paper_tables,
    get_reading,
    get_report,
    get_statistic,
)
from coeval.usecases.study_import import import_study
from tests.support.studies.scored_study import scored

RESEARCHER = Person("Rita", Role.RESEARCHER)


def count_scores(study: StudyFrames) -> int:
    return len(study.scores)


def fail(study: StudyFrames) -> None:
    raise ValueError(f"{len(study.scores)} scores are no use")


@pytest.fixture
def context(context: Context) -> Context:
    import_study(context, OPERATOR, scored(["Ann", "Ben", "Cid"], blind=1))
    return context


@pytest.fixture
def apart(context: Context, monkeypatch: pytest.MonkeyPatch) -> Iterator[Readings]:
    """Every report is large."""
    monkeypatch.setattr(kept, "LARGE", 0)
    readings = compute_apart(context)
    yield readings
    readings.close()


def eventually(there: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not there():
        assert time.monotonic() < until, "it has not happened in 30 seconds"
        time.sleep(0.05)


def save_more(context: Context) -> None:
    import_study(context, OPERATOR, scored(["Ann", "Ben", "Cid", "Dan"], blind=1))


@pytest.mark.slow
def test_a_process_of_its_own_gives_the_same_numbers(context: Context, apart: Readings) -> None:
    reading = get_reading(context, RESEARCHER, "demo")
    assert reading.helper is not None
    assert get_report(context, RESEARCHER, "demo") == build_report(reading.read_frames(EVERY))
    assert "methods.md" in get_paper_tables(context, RESEARCHER, "demo")
    with pytest.raises(ValueError, match="72 scores are no use"):
        reading.get(fail)


@pytest.mark.slow
def test_while_people_save_the_last_report_is_shown_with_its_time(
    context: Context, apart: Readings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "QUICK_SECONDS", 0.0)
    monkeypatch.setattr(kept, "REST", 1e6)
    first = list(get_pages(context, RESEARCHER, "demo", "time"))[-1]
    assert first.as_of is None
    save_more(context)
    reading = get_reading(context, RESEARCHER, "demo")
    assert reading.get(count_scores) == 72
    assert reading.count_saves_since() == 24
    page = list(get_pages(context, RESEARCHER, "demo", "time"))[-1]
    assert f"As of {reading.taken_at[11:16]} UTC; 24 saves since then." in str(page.as_of)
    # a download waits for the newest numbers
    assert get_report(context, RESEARCHER, "demo")["annotators"] == 4


@pytest.mark.slow
def test_a_newer_report_is_computed_behind_the_one_that_is_shown(
    context: Context, apart: Readings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "QUICK_SECONDS", 0.0)
    monkeypatch.setattr(kept, "REST", -1.0)
    assert get_statistic(context, RESEARCHER, "demo", count_scores) == 72
    save_more(context)
    assert get_statistic(context, RESEARCHER, "demo", count_scores) == 72
    eventually(lambda: get_statistic(context, RESEARCHER, "demo", count_scores) == 96)


@pytest.mark.slow
def test_what_a_process_knew_stays_when_it_has_ended(context: Context, apart: Readings) -> None:
    reading = get_reading(context, RESEARCHER, "demo")
    assert reading.get(count_scores) == 72
    assert reading.helper is not None
    reading.helper.close()
    again = get_reading(context, RESEARCHER, "demo")
    assert again is reading and again.get(count_scores) == 72
    with pytest.raises(HelperEndedError, match="try again"):
        again.get(build_report, EVERY)
    # whoever asks by the use case does not notice
    assert get_statistic(context, RESEARCHER, "demo", build_report)["annotators"] == 3


@pytest.mark.slow
@pytest.mark.sqlite
def test_the_process_holds_no_transaction_and_ends_with_the_server(context: Context, apart: Readings) -> None:
    """While one is open, the log of the file would grow with every save."""
    reading = get_reading(context, RESEARCHER, "demo")
    assert reading.helper is not None
    reading.get(count_scores, ("actions",))

    def folds() -> bool:
        with closing(connect(context.store.path)) as db:
            return db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0

    eventually(folds)
    apart.close()
    assert not reading.helper.alive


def test_a_file_that_is_gone_is_told(context: Context, apart: Readings, tmp_path: Path) -> None:
    apart.stand_by()
    assert apart._waiting is not None
    with pytest.raises(HelperEndedError):
        apart._waiting.open(tmp_path / "none.db", "demo")


def test_no_statistic_of_the_page_has_the_process_load_the_interface(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    compute = Reading.compute

    def note(reading: Reading, statistic: Statistic, tables: tuple[str, ...] = ()) -> Any:
        asked.add(getattr(statistic, "statistic", statistic).__module__)
        return compute(reading, statistic, tables)

    monkeypatch.setattr(Reading, "compute", note)
    for section in SECTIONS:
        list(get_pages(context, RESEARCHER, "demo", section))
    assert "coeval.stats.report.agreement" in asked
    assert {name for name in asked if not name.startswith("coeval.stats.")} == set()
