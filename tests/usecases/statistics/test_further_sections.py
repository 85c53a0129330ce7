"""A section of the report that somebody adds in one line reaches the document, the downloads and its tab."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import get_args

import pandas as pd
import pytest

from coeval.domain import Person, Study
from coeval.stats.frames import StudyFrames
from coeval.stats.report import document
from coeval.stats.report.document import Section, Tab
from coeval.stats.report.tables import Table
from coeval.ui.app.agreement.sections import SECTIONS, get_pages
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_paper_tables, get_report
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import save, walk


@dataclass(frozen=True)
class Highest:
    """How many scores are a 5."""

    n: int


def highest_tables(section: Highest) -> list[Table]:
    return [Table("highest", "Highest scores", "Scores of 5.", pd.DataFrame([{"n": section.n}]))]


def test_a_section_names_a_page_that_is_there() -> None:
    assert get_args(Tab) == ("", *SECTIONS)
    named = {section.name: section.tab for section in document.SECTIONS if section.tables}
    assert all(named.values()), f"on no page of the Agreement tab: {named}"


def test_one_line_is_all_it_takes(
    context: Context, owner: Person, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def highest(frames: StudyFrames) -> Highest:
        return Highest(int((frames.scored["score"] == 5).sum()))

    sections = (*document.SECTIONS, Section("highest", highest, tab="agreement", tables=highest_tables))
    for module in (document, document):
        monkeypatch.setattr(module, "SECTIONS", sections)
    import_study(context, owner, study)
    for name in ("Ana", "Ben"):
        person = sign_in(context, name)[0]
        for place, step in enumerate(walk(context, person)):
            save(context, person, step, 5 if place % 2 else 3)
    assert get_report(context, owner, "demo")["highest"] == {"n": 8}
    assert get_paper_tables(context, owner, "demo")["highest.csv"].equals(pd.DataFrame([{"n": 8}]))  # type: ignore[union-attr]
    shown = {
        tab: "Highest scores" in json.dumps(list(get_pages(context, owner, "demo", tab))[-1].tables)
        for tab in ("agreement", "time")
    }
    assert shown == {"agreement": True, "time": False}
