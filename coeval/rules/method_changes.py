"""Changes of methods that change numbers of existing studies, with their reasons.

Every database stores the ids that it has met. A new id in a database with scores is shown to its team as
news.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MethodChange:
    """One change of a computation, with its reason. Both texts are lines in ``CHANGELOG.md``."""

    id: str
    what: str
    why: str


CHANGES = (
    MethodChange(
        "intervals-by-document",
        "Intervals and tests leave out whole documents, or whole instances where there is one document for each",
        "Scores of the same document are not independent, so the old intervals were mostly too narrow",
    ),
    MethodChange(
        "alt-test-by-document",
        "The p-values of the alternative annotator test take documents as the sample",
        "The same reason: the old p-values were too small",
    ),
    MethodChange(
        "icc-degrees-of-freedom",
        "The intervals of ICC(2) and ICC(3) have other degrees of freedom",
        "The old formula was wrong",
    ),
    MethodChange(
        "competence-converges",
        "The model of competence runs until it converges",
        "It stopped after 100 steps",
    ),
    MethodChange(
        "near-quotations",
        "A quotation that is nearly in the output, or in the input, counts as found",
        "The old search wanted the exact words",
    ),
    MethodChange(
        "headings-are-not-lines",
        "A heading with words before its colon is not a line of a draft",
        "It was counted as a line that people kept or changed",
    ),
    MethodChange(
        "pairs-count-planted-errors",
        "The agreement of two people counts their scores of drafts with planted errors",
        "The other figures of agreement between people count them",
    ),
    MethodChange(
        "percent-agreement-within-bounds",
        "The interval of a percent agreement stays between 0 and 1",
        "No agreement is above 100%",
    ),
    MethodChange(
        "scores-before-drafts",
        "Scores that are all older than the drafts count as blind scores for the comparison with a judge",
        "No draft influenced them",
    ),
)
"""Changes in chronological order. Released ones keep their ids; add a new one at the end."""

METHODS = CHANGES[-1].id
"""The id of the latest method change, which identifies this version's methods."""
