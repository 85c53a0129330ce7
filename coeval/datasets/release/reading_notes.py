"""What is told after a release was read: what was left out, mended, or contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping

NOTES: Mapping[str, str] = {
    "headers": "Heading rows, such as '3. Evidence:', left out since they are no lines of an evaluation",
    "no_action": "Rows without any action, left out of what people did",
    "not_drafted": "Rows that act on a line the draft does not hold, kept without it",
    "same_line": "Rows that act on a drafted line a second time, kept beside the first",
    "drafts_differ": "Drafts seen in more than one form, taken as most people saw them",
    "unscored": "Drafts that state no score on the scale, kept as unscored",
    "scores_disagree": "Submissions whose final score is not the one their score row states; the final score "
    "was taken",
    "no_score": "Submissions without a readable final score; it stays missing",
    "odd_score": "Final scores that are no whole step of the scale 1-5, kept as typed",
    "no_reason": "Revised or added rows without a reason",
    "no_wording": "Revised or added rows without a new wording",
    "submissions": "Submissions whose times carry no zone and were read as UTC",
    "no_start": "Submissions without a start time, left out of timing",
    "no_end": "Submissions without an end time",
    "ends_before_start": "Submissions that end before they start, times kept as they are",
    "missing": "Evaluations (instance by criterion) missing from a person's file",
    "instances_differ": "Instances that differ between annotators' files, taken from the first",
    "no_section": "Files combine_data.json that hold no task with these outputs, not used",
    "not_combined": "Instances not in combine_data.json, their scores read from the drafted lines",
    "sources_differ": "Inputs that differ in combine_data.json, taken from the annotators' files",
}
"""What each count is of, in the order they are told."""


def tell_notes(tally: Mapping[str, int]) -> tuple[str, ...]:
    """A sentence with its count for everything that occurred."""
    return tuple(f"{text}: {tally[key]:,}." for key, text in NOTES.items() if tally.get(key))
