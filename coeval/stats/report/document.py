"""The whole document of ``stats --json``, from the sections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coeval.stats.estimates.results import plain
from coeval.stats.frames import StudyFrames
from coeval.stats.report.notes import section_notes, study_notes
from coeval.stats.report.registry import SECTIONS

Both = Callable[[Callable[[], Any], Callable[[], Any]], tuple[Any, Any]]
"""Carries out two computations, and gives both results."""


def in_turn(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    return first(), second()


def build_report(
    study: StudyFrames, *, replicates: int = 1000, seed: int = 0, both: Both = in_turn
) -> dict[str, Any]:
    """Every section, ready for JSON: undefined values are None, each with a line in ``notes``.

    Parameters
    ----------
    replicates, seed : of every bootstrap and permutation test.
    both : carries out two halves that take about as long, perhaps at once.
    """

    def build(aside: bool) -> dict[str, Any]:
        options = {"replicates": replicates, "seed": seed}
        return {part.name: part.of(study, **options) for part in SECTIONS if part.aside is aside}

    study.prepare()
    here, aside = both(lambda: build(False), lambda: build(True))
    sections = {section.name: (here | aside)[section.name] for section in SECTIONS}
    head = {
        "task": study.task,
        "annotators": len(study.annotators),
        "annotator_names": list(study.annotators),
        "units": int(study.scored["unit"].nunique()),
        "documents": int(study.instances["document"].replace("", None).nunique()),
        "resampled": {"unit": study.clusters.kind, "n": study.clusters.of(study.scored["unit"]).n},
        "criteria": list(study.criteria),
        "replicates": replicates,
        "seed": seed,
    }
    notes = [*study_notes(study), *section_notes(sections)]
    document: dict[str, Any] = plain({**head, **sections, "notes": notes})
    return document
