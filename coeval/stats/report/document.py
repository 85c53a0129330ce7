"""The whole document of ``stats --json``, from the sections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from coeval.stats.estimates.results import plain, reasons
from coeval.stats.frames import FIRST, StudyFrames, is_planted
from coeval.stats.report.agreement import agreement_section
from coeval.stats.report.alignment import alignment_section
from coeval.stats.report.work import (
    actions_section,
    assistance_section,
    behaviour_section,
    quotes_section,
    score_change_section,
    systems_section,
    time_section,
)

FEW = 3
"""Undefined values with the same reason are named one by one up to this many; beyond, they are counted."""


def build_report(study: StudyFrames, *, replicates: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Every section, ready for JSON: undefined values are None, each with a line in ``notes``.

    Parameters
    ----------
    replicates, seed : of every bootstrap and permutation test.
    """
    sections: dict[str, Any] = {
        "agreement": agreement_section(study, replicates=replicates, seed=seed),
        "actions": actions_section(study),
        "score_change": score_change_section(study),
        "time": time_section(study),
        "systems": systems_section(study),
        "alignment": alignment_section(study, replicates=replicates, seed=seed),
        "assistance": assistance_section(study, replicates=replicates, seed=seed),
        "behaviour": behaviour_section(study),
        "quotes": quotes_section(study),
    }
    notes = [*study_notes(study), *section_notes(sections)]
    head = {
        "task": study.task,
        "annotators": len(study.annotators),
        "annotator_names": list(study.annotators),
        "units": int(study.scored["unit"].nunique()),
        "criteria": list(study.criteria),
        "replicates": replicates,
        "seed": seed,
    }
    document: dict[str, Any] = plain({**head, **sections, "notes": notes})
    return document


def section_notes(sections: dict[str, Any]) -> list[str]:
    """Why values are undefined: a line each, or one line for many of the same kind."""
    by_reason: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in reasons(sections):
        where, why = line.split(" is undefined: ", 1)
        by_reason[where.split(".")[0].split("[")[0], why].append(where)
    notes = []
    for (section, why), places in by_reason.items():
        if len(places) <= FEW:
            notes += [f"{place} is undefined: {why}" for place in places]
        else:
            some = ", ".join(places[:FEW])
            notes.append(f"{len(places)} values of {section} are undefined ({some}, ...): {why}")
    return notes


def study_notes(study: StudyFrames) -> Iterator[str]:
    """What was left out of the whole report, and how to read it."""
    yield (
        "A unit is an instance by a criterion. Intervals come from drawing units anew: they speak of other units "
        "judged by these annotators, not of other annotators. The interval of a criterion is that of its ordinal "
        "alpha."
    )
    missing = len(study.scores) - len(study.scored)
    if missing:
        yield f"{missing} submissions without a score are left out of every figure but actions and time."
    unscored = len(study.drafts) - len(study.model_scores)
    if unscored:
        yield f"{unscored} of {len(study.drafts)} drafts have no score and are left out of every figure of the model."
    if study.mixed_scales:
        yield (
            "The criteria have different scales; agreement over all criteria pools their scores as they are. Read "
            "it by criterion."
        )
    runs = study.model_scores["run"].nunique()
    if runs and study.shown_scores.empty:
        yield f"None of the {runs} runs is the shown one, so nothing here is called llm; alignment compares all runs."
    untimed = int(study.scores["wall_seconds"].isna().sum())
    if untimed:
        yield f"{untimed} of {len(study.scores)} submissions have no start time and are left out of time."
    yield from _design_notes(study)


def _design_notes(study: StudyFrames) -> Iterator[str]:
    """What the study's own design has made of some scores: planted errors, and scores given before the draft."""
    planted, scores = (
        int(is_planted(study.scores).sum()),
        int(study.scores["planted_score"].astype(bool).sum()),
    )
    if planted:
        kinds = ((scores, "a wrong score"), (planted - scores, "a line of another instance"))
        shown = " and ".join(f"{n:,} {what}" for n, what in kinds if n)
        yield (
            f"{planted:,} submissions were shown a draft that was wrong on purpose: {shown}. They count for agreement "
            "between people and for the catch rates, the wrong scores for the pull too; they are left out of actions, "
            "score changes, behaviours, adoption, distance, alphas by arm and everything that sets the model beside "
            "people."
        )
    first = int(study.unaided["arm"].eq(FIRST).sum())
    if first:
        yield (
            f"{first:,} scores of the arm first were given before the draft was shown. With the blind ones they are "
            "the labels that the model is held against; everywhere else the final scores of these people count."
        )
