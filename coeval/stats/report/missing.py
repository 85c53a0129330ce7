"""The section on missing scores: their number, whether they were planned, and their possible effect on the mean."""

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
    ``by_design`` counts possible scores that were not planned. ``mean`` is the mean of all scores. It would be
    ``mean_low`` or ``mean_high`` if every missing score were at the lowest or highest point of the scale (Manski
    2003); these are None if the criteria have different scales.
    """

    possible: int
    planned: int | None
    missing: int
    by_design: int | None
    why: str
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    sentence: str = field(default="")


def missing_section(study: StudyFrames) -> MissingSection:
    """Count the missing scores, and bound the mean of all scores. For a single arm there are no bounds,
    because its scores were drawn.
    """
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
    mean, low, high = _bounds(study, missing) if study.whole else (None, None, None)
    counted = missing if study.whole or plan else 0
    found = MissingSection(possible, planned, counted, by_design, why, mean, low, high)
    return MissingSection(**{**vars(found), "sentence": _sentence(study, found, people, instances)})


def _bounds(study: StudyFrames, missing: int) -> tuple[float | None, float | None, float | None]:
    """Return the mean of all scores, and the means with missing scores at either end of the scale."""
    scores, scales = study.scored["score"], set(map(tuple, study.scales.values()))
    if scores.empty or len(scales) != 1:
        return None, None, None
    total, n = float(scores.sum()), len(scores)
    low, high = ((total + missing * end) / (n + missing) for end in next(iter(scales)))
    return total / n, low, high


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
        how_many = (
            f"{found.missing:,} of the {found.possible:,} scores that {people:,} people could have given to "
            f"{instances:,} instances are missing, and it is not known whether that was planned"
        )
    else:
        how_many = (
            f"{found.missing:,} of {found.planned:,} planned scores ({found.missing / found.planned:.0%}) are missing, "
            "and it is not known why"
        )
    if found.mean is None:
        return f"{how_many}."
    return (
        f"{how_many}: the mean score of {found.mean:.2f} would be {found.mean_low:.2f} if every missing score were the "
        f"lowest of the scale, and {found.mean_high:.2f} if every one were the highest."
    )
