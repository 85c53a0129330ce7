"""A gate for continuous integration: figures of a rubrics report are tested against limits by their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coeval.stats.estimates import Estimate

EXIT_CODES = {"held": 0, "below": 3, "undecided": 4}
"""The exit codes of a gate; 1 and 2 are reserved for errors and invalid options."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a gate for one figure: ``outcome`` is "held", "below" or "undecided"."""

    name: str
    outcome: str
    least: float
    value: float
    ci_low: float
    ci_high: float
    why: str = ""

    def __str__(self) -> str:
        if self.why:
            return f"{self.name}: {self.outcome}. {self.why}"
        interval = f"95% interval {self.ci_low:.3f} to {self.ci_high:.3f}"
        return f"{self.name}: {self.outcome}. {self.value:.3f} ({interval}); the minimum is {self.least:g}."


def check_figure(name: str, figure: Estimate, least: float) -> Finding:
    """Test a figure against a minimum: held if the whole interval reaches it, below if no part does."""
    low, high = figure.ci
    if not figure.defined:
        return Finding(
            name, "undecided", least, float("nan"), low, high, f"It is undefined: {figure.reason}."
        )
    if low != low:
        why = f"It is {float(figure):.3f}, and there are too few documents for an interval."
        return Finding(name, "undecided", least, float(figure), low, high, why)
    outcome = "held" if low >= least else "below" if high < least else "undecided"
    return Finding(name, outcome, least, float(figure), low, high)


def check_share(name: str, count: int, total: int, most: float) -> Finding:
    """Test whether an exactly known share is at most ``most``."""
    share = count / total if total else float("nan")
    if not total:
        return Finding(name, "undecided", most, share, share, share, "There is nothing to count.")
    outcome = "held" if share <= most else "below"
    return Finding(
        name, outcome, most, share, share, share, f"{count:,} of {total:,}; the maximum is {most:g}."
    )


def outcome_of(findings: Sequence[Finding]) -> str:
    """Return the outcome of a gate: the worst of its findings."""
    outcomes = {finding.outcome for finding in findings}
    return next((outcome for outcome in ("below", "undecided") if outcome in outcomes), "held")
