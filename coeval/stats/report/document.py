"""The report: its sections, the omissions with reasons, the whole document of ``stats --json``, and all tables.

To add a section, write a function from the frames to a dataclass, and add a line in ``SECTIONS``. With ``tables``, it
also appears in the downloaded tables. A page of the Agreement tab shows tables with ``show_table``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coeval.stats.clusters import ROUGH_BELOW
from coeval.stats.estimates import plain, section_notes
from coeval.stats.frames import FIRST, StudyFrames, is_planted, once
from coeval.stats.report.activity import (
    actions_section,
    actions_tables,
    behaviour_section,
    behaviour_tables,
    score_change_section,
    score_change_tables,
    time_section,
    time_tables,
    votes_section,
    votes_tables,
)
from coeval.stats.report.agreement import agreement_section, agreement_tables, arm_counts
from coeval.stats.report.alignment import alignment_section, alignment_tables
from coeval.stats.report.answer import answer_section
from coeval.stats.report.draft_account import draft_account_section, draft_account_tables
from coeval.stats.report.pairwise_strengths import pairwise_section, pairwise_tables
from coeval.stats.report.systems import systems_section, systems_tables
from coeval.stats.report.tables import Table

# Omissions of a report, with reasons, in sentences.


def list_notes(study: StudyFrames) -> list[str]:
    """Return the notes on omissions that apply to the whole report. Each section lists its own omissions."""
    return list(study_notes(study))


def study_notes(study: StudyFrames) -> Iterator[str]:
    """Yield notes on the omissions of the whole report, and on how to read it."""
    yield _sampled(study)
    missing = len(study.scores) - len(study.scored)
    if missing:
        yield f"{missing} submissions without a score are left out of every figure but actions and time."
    unscored = int(study.drafts["score"].isna().sum())
    if unscored:
        yield f"{unscored} of {len(study.drafts)} drafts have no score and are left out of every figure of the model."
    yield from _asked_again(study)
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
        yield f"{untimed} of {len(study.scores)} submissions have no start time and are left out of the times."
    yield from _design_notes(study)


def _asked_again(study: StudyFrames) -> Iterator[str]:
    """Yield a note on the model's scores from asking again, with its correlation with people for them alone."""
    if "again" not in study.drafts or not study.drafts["again"].any():
        return
    drafts = study.drafts.dropna(subset=["score"])
    counted = "counted" if study.asked_again else "left out of every figure of the model"
    people = study.scored.groupby(["instance", "criterion"], observed=True)["score"].mean().rename("people")
    paired = drafts.join(people, on=["instance", "criterion"]).dropna(subset=["people"])
    groups = [_correlated(paired[paired["again"].astype(bool) == again]) for again in (True, False)]
    yield (
        f"{int(drafts['again'].sum()):,} of {len(drafts):,} model scores were given only when the model was asked "
        f"again. They are {counted}. Pearson's correlation with the mean of people is {groups[0]} for them and "
        f"{groups[1]} for the others."
    )


def _correlated(pairs: pd.DataFrame) -> str:
    if len(pairs) < 3 or pairs["score"].nunique() < 2 or pairs["people"].nunique() < 2:
        return f"undefined (n = {len(pairs):,})"
    return f"{pairs['score'].corr(pairs['people']):.2f} (n = {len(pairs):,})"


def _sampled(study: StudyFrames) -> str:
    """Describe the sampling unit of the intervals, and the population to which they apply."""
    clusters = study.clusters.of(study.scored["unit"])
    what = {
        "documents": "documents, each with all its instances, criteria and systems",
        "instances": "instances, each with all its criteria",
    }[clusters.kind]
    few = (
        f" There are only {clusters.n}, so the intervals use Student's t and are rough."
        if 0 < clusters.n < ROUGH_BELOW
        else ""
    )
    return (
        f"A unit is an instance and a criterion. Intervals and tests treat {what}, as the sampling unit: "
        f"they apply to other {clusters.kind} scored by these people, not to other people, unless "
        f"stated otherwise.{few} The interval of a criterion is that of its ordinal alpha. Agreement counts "
        "only the scores of units with two or more (n_ratings)."
    )


def _design_notes(study: StudyFrames) -> Iterator[str]:
    """Yield notes on the effects of the design on scores: planted errors, and scores before the draft."""
    planted = int(is_planted(study.scores).sum())
    if planted:
        yield (
            f"{planted:,} submissions were shown a score that was wrong on purpose. They count for agreement "
            "between people, for the catch rates, and for the pull. They are left out of actions, "
            "score changes, adoption, distance, alphas by arm, and every comparison of the model with "
            "people."
        )
    first = int(study.unaided["arm"].eq(FIRST).sum())
    if first:
        yield (
            f"{first:,} scores of the arm first were given before the draft was shown. With the blind scores, they are "
            "the labels that the model is compared with; everything else uses the final scores of these people."
        )


# The sections of the report, and their tables.


@dataclass(frozen=True)
class Section:
    """A section: its name in the document, its builder, and its tables for papers."""

    name: str
    build: Callable[[StudyFrames], Any]
    tables: Callable[[Any], Sequence[Table]] | None = None


SECTIONS: tuple[Section, ...] = (
    Section("answer", answer_section),
    Section("votes", votes_section, votes_tables),
    Section("actions", actions_section, actions_tables),
    Section("score_change", score_change_section, score_change_tables),
    Section("agreement", agreement_section, agreement_tables),
    Section("time", time_section, time_tables),
    Section("alignment", alignment_section, alignment_tables),
    Section("behaviour", behaviour_section, behaviour_tables),
    Section("systems", systems_section, systems_tables),
    Section("drafts", draft_account_section, draft_account_tables),
    Section("pairwise", pairwise_section, pairwise_tables),
)


@once
def build_sections(study: StudyFrames) -> dict[str, Any]:
    """Return every section of the report by its name."""
    return {section.name: section.build(study) for section in SECTIONS}


def build_report(study: StudyFrames) -> dict[str, Any]:
    """Return all sections as JSON values. Undefined values are None, and ``notes`` says why."""
    sections = build_sections(study)
    head = {
        "task": study.task,
        "annotators": len(study.annotators),
        "annotator_names": list(study.annotators),
        "arms": arm_counts(study),
        "units": int(study.scored["unit"].nunique()),
        "documents": int(study.instances["document"].replace("", None).nunique()),
        "resampled": {"unit": study.clusters.kind, "n": study.clusters.of(study.scored["unit"]).n},
        "criteria": list(study.criteria),
    }
    notes = [*study_notes(study), *section_notes(sections)]
    document: dict[str, Any] = plain({**head, **sections, "notes": notes})
    return document


def paper_tables(study: StudyFrames) -> list[Table]:
    """Return every table of the study that has rows."""
    sections = build_sections(study)
    tables = [
        table for section in SECTIONS if section.tables for table in section.tables(sections[section.name])
    ]
    return [table for table in tables if len(table.frame)]
