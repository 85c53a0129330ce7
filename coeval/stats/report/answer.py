"""The answer to whether the scores can be trusted: a sentence with its level and cautions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coeval.stats.agreement.alpha import ACCEPTABLE, TENTATIVE, alpha_levels
from coeval.stats.agreement.coefficients import NOT_PAIRED
from coeval.stats.clusters import VERDICT_FROM
from coeval.stats.estimates import Estimate, short
from coeval.stats.frames import StudyFrames
from coeval.stats.report.agreement import (
    ALL_SCORES,
    ARM_WORDS,
    IN_VIEW,
    DraftsInView,
    Headline,
    people_alphas,
)
from coeval.stats.report.draft_account import DraftEffects, draft_effects_section

RELIABLE, FOR_TENTATIVE, TOO_LOW, OPEN, TOO_FEW, UNDEFINED = (
    "reliable",
    "tentative",
    "too low",
    "open",
    "too few",
    "undefined",
)
"""The levels, in order: the whole interval is at .8 or above, at .667 or above, or below .667; the interval includes
.667; there are fewer than ``VERDICT_FROM`` clusters; alpha is undefined."""

SOURCE = "Krippendorff (2004): .8 for reliable conclusions, .667 for tentative ones"

MOST_NAMED = 2
"""The largest number of criteria that a caution names; more are only counted."""


@dataclass(frozen=True)
class Answer:
    """The answer to whether the scores can be trusted.

    ``sentence`` is for people, ``level`` for programs. ``draft`` says how much the draft influenced scores; it is
    empty if nobody saw one. Read ``cautions`` before you quote the sentence.
    """

    sentence: str
    level: str
    source: str
    alpha: float | None
    ci_low: float | None
    ci_high: float | None
    measured: str
    draft: str
    cautions: list[str]


def answer_section(study: StudyFrames) -> Answer:
    """Return the answer for a study. It is about the scores of the headline in the section on agreement."""
    alphas = people_alphas(study)
    if alphas.headline.scores == ALL_SCORES:
        parts = [levels["ordinal"] for levels in alphas.per_criterion]
    else:
        cuts = [study.ratings(part) for part in study.cut_by_criterion(study.unaided)]
        parts = [alpha_levels(data, study.clusters_of(data), ("ordinal",))["ordinal"] for data in cuts]
    by_criterion = dict(zip(study.criteria, parts, strict=True))
    return build_answer(alphas.headline, by_criterion, draft_effects_section(study))


def build_answer(
    headline: Headline, by_criterion: Mapping[str, Estimate], effects: DraftEffects | None = None
) -> Answer:
    """Return the answer from computed values. ``effects`` are None if not yet computed."""
    alpha, seen = headline.mean.value, headline.drafts_in_view
    level = find_level(alpha, headline.few_clusters)
    measured = name_measurement(seen)
    low, high = alpha.ci
    cautions = [*_weak(by_criterion, level), *_in_view(seen)] if alpha.defined else []
    return Answer(
        sentence=_sentence(alpha, level, measured),
        level=level,
        source=SOURCE,
        alpha=_known(float(alpha)),
        ci_low=_known(low),
        ci_high=_known(high),
        measured=measured,
        draft="" if effects is None else describe_effects(effects),
        cautions=cautions,
    )


def find_level(alpha: Estimate, few: bool) -> str:
    """Return the level that the whole interval reaches, because a point estimate above a threshold proves nothing.

    >>> find_level(Estimate(0.74, ci_low=0.70, ci_high=0.77), False)
    'tentative'
    >>> find_level(Estimate(0.82, ci_low=0.60, ci_high=0.95), False)
    'open'
    """
    low, high = alpha.ci
    if not alpha.defined:
        return UNDEFINED
    if few or math.isnan(low) or math.isnan(high):
        return TOO_FEW
    if low >= ACCEPTABLE:
        return RELIABLE
    if low >= TENTATIVE:
        return FOR_TENTATIVE
    return TOO_LOW if high < TENTATIVE else OPEN


def name_measurement(seen: DraftsInView) -> str:
    """Describe in words whether people saw the draft when they scored.

    >>> name_measurement(DraftsInView(0, 486, Estimate.undefined("none")))
    'measured without the draft'
    >>> name_measurement(DraftsInView(400, 500, Estimate(0.9)))
    'measured with the draft in view for 80% of the scores'
    """
    if not seen.n:
        return "measured without the draft"
    if seen.n == seen.of:
        return "measured with the draft in view"
    return f"measured with the draft in view for {_percent(seen.n / seen.of)} of the scores"


def _sentence(alpha: Estimate, level: str, measured: str) -> str:
    if alpha.reason == NOT_PAIRED:
        return (
            "Agreement cannot be computed yet: no two people scored the same instance on the same criterion. "
            "A second person has to judge the same instances."
        )
    if level == UNDEFINED:
        return f"Agreement cannot be computed yet: {alpha.reason or 'nobody has scored'}."
    figure = f"alpha {short(float(alpha))}{_span(alpha)}, {measured}"
    n = alpha.details.get("clusters")
    if level == TOO_FEW:
        few = too_few(n, str(alpha.details.get("resampled") or "documents")) if n else ""
        told = f": {figure}" if n != 1 else ""
        return f"It is too early to say how far annotators agree{told}. {few}".rstrip()
    return {
        RELIABLE: f"Annotators agree well: {figure}.",
        FOR_TENTATIVE: f"Annotators agree well enough for tentative conclusions: {figure}.",
        TOO_LOW: f"Annotators agree too little to rely on these scores: {figure}.",
        OPEN: f"It is not certain that annotators agree enough: {figure}. The interval reaches below .667.",
    }[level]


def count_clusters(n: int, kind: str) -> str:
    """Return a number with its noun.

    >>> count_clusters(1, "documents or groups"), count_clusters(1200, "documents")
    ('1 document or group', '1,200 documents')
    """
    return f"{n:,} " + (re.sub(r"s\b", "", kind) if n == 1 else kind)


def too_few(n: int, kind: str) -> str:
    """Return the warning about a number of clusters that is too small, or "".

    >>> too_few(1, "documents"), too_few(10, "documents")
    ('The scores are of 1 document; at least 10 are needed.', '')
    """
    scored = count_clusters(n, kind)
    return f"The scores are of {scored}; at least {VERDICT_FROM} are needed." if n < VERDICT_FROM else ""


def describe_effects(effects: DraftEffects) -> str:
    """Describe how much the draft moved scores. Without a pull, say how much more often people gave its score.

    >>> from coeval.stats.estimates import Spelled
    >>> nothing = Spelled(Estimate.undefined("no score was given without the draft"))
    >>> describe_effects(DraftEffects(nothing, Spelled(Estimate(0.37, ci_low=0.25, ci_high=0.49))))
    'The draft moved scores by .37 (.25 to .49) of its own error: report it.'
    """
    pull, adoption = effects.pull.value, effects.adoption.value
    if pull.defined:
        return _effect(
            pull,
            f"The draft moved scores by {_with_span(pull)} of its own error",
            f"No pull of the draft is proved: {_with_span(pull)} of its own error",
        )
    if adoption.defined:
        return _effect(
            adoption,
            f"The draft changed how often people gave its score, by {_with_span(adoption)}",
            "No effect of the draft on scores is proved: "
            f"the share that equals its score changed by {_with_span(adoption)}",
        )
    return ""


def _effect(value: Estimate, proved: str, open_: str) -> str:
    """Return the sentence for an effect: ``proved`` if its interval excludes 0, else ``open_``."""
    low, high = value.ci
    return f"{proved}: report it." if low > 0 or high < 0 else f"{open_}."


def _weak(by_criterion: Mapping[str, Estimate], level: str) -> list[str]:
    """Return cautions for criteria that are below .667 or may be, because a mean of this level can hide them."""
    if len(by_criterion) < 2:
        return []
    weak = [text for text, alpha in by_criterion.items() if alpha.ci[1] < TENTATIVE]
    unknown = [text for text, alpha in by_criterion.items() if text not in weak and _is_unknown(alpha)]
    of_all = len(by_criterion)
    if level in (OPEN, TOO_FEW) and len(unknown) == of_all:
        return []  # the sentence says it
    said = (
        ("Agreement is below .667 for", weak),
        ("Agreement may be below .667 for", unknown),
    )
    return [f"{words} {_name_criteria(texts, of_all)}." for words, texts in said if texts]


def _is_unknown(alpha: Estimate) -> bool:
    few = alpha.details.get("clusters", VERDICT_FROM) < VERDICT_FROM
    return find_level(alpha, few) in (OPEN, TOO_FEW, UNDEFINED)


def _name_criteria(texts: Sequence[str], of_all: int) -> str:
    if len(texts) > MOST_NAMED:
        return f"{len(texts)} of {of_all} criteria"
    return " and ".join(f"“{text.rstrip('.')}”" for text in texts)


def _in_view(seen: DraftsInView) -> list[str]:
    """Return a caution for scores with the draft in view: people who see the same draft may agree more."""
    if not seen.n:
        return []
    kept = f", and {_percent(seen.kept)} kept its score" if seen.kept.defined else ""
    others = ", ".join(f"{n:,} {ARM_WORDS[arm]}" for arm, n in seen.arms.items() if arm not in IN_VIEW)
    many = f"All {seen.n:,} scores were" if seen.n == seen.of else f"{seen.n:,} of {seen.of:,} scores were"
    measure = (
        "A share of blind assignments, under Study design in Set-up, measures whether it does."
        if seen.n == seen.of
        else f"Effect of the draft compares them with the others: {others}."
    )
    return [f"{many} given with the draft in view{kept}, which can raise agreement. {measure}"]


def _span(value: Estimate) -> str:
    low, high = value.ci
    return "" if math.isnan(low) else f" (95% interval {short(low)} to {short(high)})"


def _with_span(value: Estimate) -> str:
    low, high = value.ci
    return short(float(value)) + ("" if math.isnan(low) else f" ({short(low)} to {short(high)})")


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)
