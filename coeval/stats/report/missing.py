"""The section on missing scores: their number, and whether they were planned."""

from __future__ import annotations

from dataclasses import dataclass, field

from coeval.stats.frames import StudyFrames

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
    return MissingSection(**{**vars(found), "sentence": _sentence(study, found, people, instances)})


def _sentence(study: StudyFrames, found: MissingSection, people: int, instances: int) -> str:
    if not people:
        return ""
    if not study.whole:
        if found.planned is None:
            return "These scores alone do not tell how many are missing."
        among = f"{found.missing:,} of the {found.planned:,} scores that were planned in all arms are missing"
        return f"{among}." if found.missing else "No planned score is missing."
    drawn = "" if found.why != DRAWN else ": a random draw gave each instance to some of the people"
    if not found.missing:
        every = "Every person scored every instance by every criterion: no score is missing."
        return every if found.planned is None else f"No planned score is missing{drawn}."
    if found.planned is None:
        return (
            f"{found.missing:,} of the {found.possible:,} scores that {people:,} people could have given to "
            f"{instances:,} instances are missing, and it is not known whether that was planned."
        )
    return (
        f"{found.missing:,} of {found.planned:,} planned scores ({found.missing / found.planned:.0%}) are missing, "
        "and it is not known why."
    )
