"""The sections of the report, each in one line: its place in ``stats --json``, and where the tab shows it.

A new section is a function from the frames to a dataclass, and a line here. With ``tables`` it also stands on the
Agreement tab, below the page that ``tab`` names, and among the tables that are downloaded; without, a page shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coeval.stats.frames import StudyFrames
from coeval.stats.report.activity import (
    actions_section,
    behaviour_section,
    quotes_section,
    score_change_section,
    time_section,
)
from coeval.stats.report.agreement import agreement_section
from coeval.stats.report.assistance import assistance_section
from coeval.stats.report.judges.alignment import alignment_section
from coeval.stats.report.judges.judge_equivalence import equivalence_section, equivalence_tables
from coeval.stats.report.judges.pairwise import pairwise_section, pairwise_tables
from coeval.stats.report.judges.soft_labels import soft_labels_section, soft_labels_tables
from coeval.stats.report.reliability import reliability_section, reliability_tables
from coeval.stats.report.report_table import Table
from coeval.stats.report.systems import systems_section

Tab = Literal["", "agreement", "changes", "model", "systems", "time", "draft"]
"""The pages of the Agreement tab, which are listed in ``ui.study_app.agreement.sections``; "" for none."""


@dataclass(frozen=True)
class Section:
    """A section: its name in the document, what builds it, and whether that draws at random.

    ``tables`` makes tables of the built section, shown below the page ``tab`` of the Agreement tab. Those that are
    marked ``aside`` take together about as long as the others.
    """

    name: str
    build: Callable[..., Any]
    seeded: bool = False
    tab: Tab = ""
    tables: Callable[[Any], Sequence[Table]] | None = None
    aside: bool = False

    def of(self, study: StudyFrames, *, replicates: int, seed: int) -> Any:
        """The section of a study."""
        return self.build(study, replicates=replicates, seed=seed) if self.seeded else self.build(study)


SECTIONS: tuple[Section, ...] = (
    Section("agreement", agreement_section, seeded=True),
    Section("actions", actions_section),
    Section("score_change", score_change_section),
    Section("time", time_section),
    Section("systems", systems_section, seeded=True),
    Section("alignment", alignment_section, seeded=True, aside=True),
    Section("assistance", assistance_section, aside=True),
    Section("behaviour", behaviour_section, aside=True),
    Section("quotes", quotes_section),
    Section("equivalence", equivalence_section, tab="model", tables=equivalence_tables),
    Section("soft_labels", soft_labels_section, tab="model", tables=soft_labels_tables, aside=True),
    Section("reliability", reliability_section, tab="agreement", tables=reliability_tables),
    Section("pairwise", pairwise_section, tab="systems", tables=pairwise_tables),
)


def list_tables(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> list[tuple[str, Table]]:
    """The tables that sections bring with them, each with the page of the Agreement tab that it stands on."""
    return [
        (section.tab, table)
        for section in SECTIONS
        if section.tables is not None
        for table in section.tables(section.of(study, replicates=replicates, seed=seed))
    ]
