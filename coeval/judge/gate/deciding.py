"""What a gate says of two systems: that the new one is no worse, that it is, or that this cannot be decided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import pandas as pd

from coeval.errors import InputError
from coeval.judge.artifact.schema import JudgeFile
from coeval.judge.gate.differences import LABELLED, Difference, compare_systems

LEVEL = 0.05
MISSING = 0.2
"""With more than this share of outputs without a score nothing is decided."""


class Outcome(StrEnum):
    """How a gate ends."""

    HELD = "no worse"
    REGRESSION = "regression"
    UNDECIDED = "cannot decide"


EXIT_CODES = {Outcome.HELD: 0, Outcome.REGRESSION: 3, Outcome.UNDECIDED: 4}
"""1 stays for a command that could not do its work, and 2 for options that are none."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked: the new system less the old one, and the loss in points that is let pass."""

    new: str
    old: str
    margin: float
    min_n: int = 50
    level: float = LEVEL

    def check(self, systems: Iterable[str]) -> None:
        """Raises InputError where the margin cannot be, or one of both is none of these systems."""
        if not -math.inf < self.margin <= 0:
            raise InputError(
                f"A margin of {self.margin:g} cannot be: give the loss that is let pass as 0 or a number below 0."
            )
        if self.new == self.old:
            raise InputError(f"“{self.new}” is compared with itself: name two systems.")
        known = sorted(set(systems) - {""})
        for system in (self.new, self.old):
            if system not in known:
                raise InputError(
                    f"There are no outputs of “{system[:60]}”; the column “system” has "
                    f"{', '.join(known)[:300] or 'nothing'}."
                )


@dataclass(frozen=True, slots=True)
class Line:
    """The outcome by one criterion, with the corrected difference and the judge's raw one beside it."""

    criterion: str
    outcome: Outcome
    difference: Difference
    raw: Difference
    why: str
    tested: bool = True
    """Whether there was enough to test by."""

    def __str__(self) -> str:
        return f"{self.criterion}: {self.outcome}. {self.figures} {self.why}"

    @property
    def figures(self) -> str:
        """The differences in a sentence."""
        difference = self.difference
        if math.isnan(difference.se):
            return "There is no difference to tell."
        people = f", {difference.labelled} of them scored by people" if difference.labelled else ""
        return (
            f"Difference {difference.value:+.3f} (standard error {difference.se:.3f}; {difference.documents} documents"
            f"{people}), of raw scores {self.raw.value:+.3f}."
        )


@dataclass(frozen=True, slots=True)
class Gate:
    """All lines, and what they come to together."""

    terms: Terms
    lines: tuple[Line, ...]

    @property
    def outcome(self) -> Outcome:
        """A regression by any criterion is one; it holds only where it holds by every criterion."""
        outcomes = {line.outcome for line in self.lines}
        if Outcome.REGRESSION in outcomes:
            return Outcome.REGRESSION
        return Outcome.HELD if outcomes == {Outcome.HELD} else Outcome.UNDECIDED

    def __str__(self) -> str:
        terms = self.terms
        head = (
            f"{self.outcome.upper()}: {terms.new} against {terms.old}, a loss of {-terms.margin:g} let pass, one-sided "
            f"tests at {terms.level:.0%}"
        )
        return "\n".join([head, *map(str, self.lines)])


def hold_gate(table: pd.DataFrame, judge: JudgeFile, terms: Terms) -> Gate:
    """Test by every criterion whether the new system is no worse than the old one by more than the margin.

    Where the true difference lies at the margin or below, "no worse" is said with a chance of at most ``level``. Where
    it lies at the margin or above, "regression" is said by any of the criteria with a chance of at most ``level``
    (Holm 1979).

    Args:
        table: the scored outputs: ``document``, ``system``, ``criterion``, ``raw``, ``score`` and ``people`` (people's
            mean of this very output, NaN where there is none).
        judge: whose criteria are gone through.
        terms: margin at most 0.

    Raises:
        InputError: a system has no outputs, or the terms cannot be.
    """
    terms.check(table["system"])
    lines = [_compare(table[table["criterion"] == each.text], each.text, terms) for each in judge.criteria]
    return Gate(terms, _find_regressions(lines, terms))


def _compare(rows: pd.DataFrame, criterion: str, terms: Terms) -> Line:
    rows = rows[rows["system"].isin([terms.new, terms.old])]
    difference = compare_systems(rows, terms.new, terms.old, "score")
    raw = compare_systems(rows.assign(people=math.nan), terms.new, terms.old, "raw")
    lacking = _find_lack(difference, float(rows["score"].isna().mean()), terms)
    if lacking:
        return Line(criterion, Outcome.UNDECIDED, difference, raw, lacking, tested=False)
    p = difference.below(terms.margin)
    if p <= terms.level:
        why = f"It lies above {terms.margin:g} (p = {p:.3g})."
        return Line(criterion, Outcome.HELD, difference, raw, why)
    why = f"It may lie on either side of {terms.margin:g} (p = {p:.3g}): more documents would tell."
    return Line(criterion, Outcome.UNDECIDED, difference, raw, why)


def _find_lack(difference: Difference, unscored: float, terms: Terms) -> str:
    """Why nothing can be tested; empty where it can."""
    if difference.documents < max(terms.min_n, 2):
        return f"{difference.documents} documents have scores, and {max(terms.min_n, 2)} are asked for."
    if unscored > MISSING:
        return f"{unscored:.0%} of the outputs have no score: run the judge again."
    return ""


def _find_regressions(lines: Sequence[Line], terms: Terms) -> tuple[Line, ...]:
    """Holm's steps over the criteria that were tested."""
    tested = sorted((line for line in lines if line.tested), key=lambda line: _worse(line, terms))
    regressions: dict[str, Line] = {}
    for rank, line in enumerate(tested):
        p = _worse(line, terms)
        if p > terms.level / (len(tested) - rank):
            break
        why = f"It lies below {terms.margin:g} (p = {p:.3g})."
        regressions[line.criterion] = replace(line, outcome=Outcome.REGRESSION, why=why)
    return tuple(regressions.get(line.criterion, line) for line in lines)


def _worse(line: Line, terms: Terms) -> float:
    return line.difference.above(terms.margin)


def tell_basis(gate: Gate, judge: JudgeFile) -> str:
    """What the differences rest on, in sentences."""
    if any(line.difference.labelled for line in gate.lines):
        return "What people scored corrects the judge for each system; it has to be a random draw of the outputs."
    said = (
        f"People scored outputs of both systems in fewer than {LABELLED} documents, so the means are the judge's own, "
        "which is taken to err by as much on both."
    )
    errors = pd.DataFrame(
        [(one.criterion, one.system, one.people - one.score) for one in judge.labels],
        columns=["criterion", "system", "error"],
    )
    by_system = errors.groupby(["criterion", "system"])["error"].mean().groupby(level=0)
    apart = (by_system.max() - by_system.min()).max() if len(errors) else 0.0
    if apart > 0:
        said += f" In the study its mean error differed by up to {apart:.2f} points between systems."
    return said
