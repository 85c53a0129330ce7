"""The report: its sections, the omissions with reasons, the whole document of ``stats --json``, and all tables.

To add a section, write a function from the frames to a dataclass, and add a line in ``SECTIONS``. With ``tables``, it
also appears in the downloaded tables. A page of the Agreement tab shows tables with ``show_table``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
)
from coeval.stats.report.agreement import agreement_section, agreement_tables, arm_counts, drafts_in_view
from coeval.stats.report.alignment import alignment_section, alignment_tables
from coeval.stats.report.answer import answer_section
from coeval.stats.report.criteria_votes import votes_section, votes_tables
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
    yield from _in_view(study)
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
    both = drafts.join(people, on=["instance", "criterion"]).dropna(subset=["people"])
    found = [_correlated(both[both["again"].astype(bool) == again]) for again in (True, False)]
    yield (
        f"{int(drafts['again'].sum()):,} of {len(drafts):,} model scores were given only when the model was asked "
        f"again. They are {counted}. Pearson's correlation with the mean of people is {found[0]} for them and "
        f"{found[1]} for the others."
    )


def _correlated(pairs: pd.DataFrame) -> str:
    if len(pairs) < 3 or pairs["score"].nunique() < 2 or pairs["people"].nunique() < 2:
        return f"undefined (n = {len(pairs):,})"
    return f"{pairs['score'].corr(pairs['people']):.2f} (n = {len(pairs):,})"


def _in_view(study: StudyFrames) -> Iterator[str]:
    """Yield a note on the scores given with the draft in view, and on how many of them kept the draft's score."""
    seen = drafts_in_view(study.scored)
    if not seen.kept.defined:
        return
    many = f"All {seen.n:,} scores were" if seen.n == seen.of else f"{seen.n:,} scores were"
    yield (
        f"{many} given with the draft in view; {float(seen.kept):.0%} of those with a drafted score equal it. People "
        "who see the same draft agree more than they would without it."
    )


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


# The section on missing scores.

COMPLETE, DRAWN, UNKNOWN = "complete", "at random", "not known"
"""The reasons for missing scores: none are missing, scorers were drawn at random, or unknown."""


@dataclass(frozen=True)
class MissingSection:
    """The number of missing scores of (instance, criterion, person).

    ``possible`` counts the scores that all scorers could have given to all scored instances, ``planned`` those in
    their queues (None if unknown). ``missing`` counts the missing planned scores, else the missing possible ones;
    ``by_design`` counts possible scores that were not planned.
    """

    possible: int
    planned: int | None
    missing: int
    by_design: int | None
    why: str
    sentence: str = field(default="")


def missing_section(study: StudyFrames) -> MissingSection:
    """Count the missing scores. Those of a single arm are only known if they were planned."""
    scored = study.scored
    people, instances = len(study.annotators), scored["instance"].nunique()
    possible = people * instances * len(study.criteria)
    plan = study.planned
    without = len(study.scores) - len(scored)
    missing = plan.missing + without if plan else max(possible - len(scored), 0)
    planned = plan.scores if plan else None
    by_design = max(possible - planned, 0) if planned is not None else None
    why = DRAWN if by_design and plan and plan.drawn else COMPLETE
    if missing or not people:
        why = UNKNOWN
    counted = missing if study.whole or plan else 0
    found = MissingSection(possible, planned, counted, by_design, why)
    return MissingSection(**{**vars(found), "sentence": _tell_missing(study, found, people, instances)})


def _tell_missing(study: StudyFrames, counts: MissingSection, people: int, instances: int) -> str:
    if not people:
        return ""
    if not study.whole:
        if counts.planned is None:
            return "These scores alone do not tell how many are missing."
        among = (
            f"{counts.missing:,} of the {counts.planned:,} scores that were planned in all arms are missing"
        )
        return f"{among}." if counts.missing else "No planned score is missing."
    drawn = "" if counts.why != DRAWN else ": a random draw gave each instance to some of the people"
    if not counts.missing:
        every = "Every person scored every instance by every criterion: no score is missing."
        return every if counts.planned is None else f"No planned score is missing{drawn}."
    if counts.planned is None:
        return (
            f"{counts.missing:,} of the {counts.possible:,} scores that {people:,} people could have given to "
            f"{instances:,} instances are missing, and it is not known whether that was planned."
        )
    return (
        f"{counts.missing:,} of {counts.planned:,} planned scores ({counts.missing / counts.planned:.0%}) are missing, "
        "and it is not known why."
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
    Section("missing", missing_section),
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
