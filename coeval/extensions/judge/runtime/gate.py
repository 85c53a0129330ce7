"""A gate's verdict on two systems: no worse, a regression, or undecided; also as a JUnit file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from coeval.errors import InputError
from coeval.extensions.judge.bridge.schema import Bridge
from coeval.extensions.judge.model.equivalence import flip_rate
from coeval.extensions.judge.model.file_schema import JudgeCriterion, JudgeFile
from coeval.extensions.judge.model.fitted import find_unmoved, tell_unmoved
from coeval.extensions.judge.runtime.across import tell_unlinked, widen
from coeval.extensions.judge.runtime.system_differences import (
    IDENTICAL,
    LABELLED,
    Difference,
    compare_systems,
)
from coeval.stats.estimates import Spelled

LEVEL = 0.05
MISSING = 0.2
"""If a larger share of outputs has no score, the result is undecided."""
HARDLY = 0.1
"""If calibrated differences vary by less than this share of the raw ones, calibration hides the differences."""


class Outcome(StrEnum):
    """The verdict of a gate."""

    HELD = "no worse"
    REGRESSION = "regression"
    UNDECIDED = "cannot decide"


EXIT_CODES = {Outcome.HELD: 0, Outcome.REGRESSION: 3, Outcome.UNDECIDED: 4}
"""The exit code of each verdict. Code 1 means that the command could not run, and code 2 that options are invalid."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The question of a gate: whether the new system minus the old one is within the tolerated loss, in points."""

    new: str
    old: str
    margin: float
    min_n: int = 50
    level: float = LEVEL
    threshold: float | None = None
    """The passing score for the rate of changed verdicts; None means a scale's middle."""

    def check(self, systems: Iterable[str]) -> None:
        """Raise InputError for invalid terms or unknown systems."""
        if not -math.inf < self.margin <= 0:
            raise InputError(
                f"The margin is {self.margin:g}: give the largest accepted loss as 0 or a negative number."
            )
        if self.new == self.old:
            raise InputError(f"“{self.new}” cannot be compared with itself: name two systems.")
        names = sorted(set(systems) - {""})
        for system in (self.new, self.old):
            if system not in names:
                raise InputError(
                    f"There are no outputs of “{system[:60]}”; the column “system” contains "
                    f"{', '.join(names)[:300] or 'nothing'}."
                )


@dataclass(frozen=True, slots=True)
class Line:
    """The verdict on one criterion, with the differences of calibrated and raw scores.

    ``on_raw`` is the difference of raw scores, corrected by people's scores if ``difference`` is. ``raw`` is never
    corrected.
    """

    criterion: str
    outcome: Outcome
    difference: Difference
    raw: Difference
    on_raw: Difference
    why: str
    flips: Spelled
    """The share of outputs whose verdict changes between two answers (``flip_rate``)."""
    tested: bool = True
    """True if there were enough data for a test."""

    def __str__(self) -> str:
        return f"{self.criterion}: {self.outcome}. {self.figures} {self.why} {self.flipping}"

    @property
    def flipping(self) -> str:
        """Return a sentence on how often a verdict changes between runs."""
        rate = self.flips.value
        if not rate.defined:
            return "The rate of changed verdicts between runs is unknown: each output has only one answer."
        low, high = rate.ci
        interval = f"{low:.1%} to {high:.1%}; " if low == low else ""
        return (
            f"With one answer each, the verdict “at least {rate.threshold:g}” changes between runs on "
            f"{rate.value:.1%} of unchanged inputs ({interval}{rate.n:,} outputs with "
            f"{rate.answers:.3g} answers each)."
        )

    @property
    def figures(self) -> str:
        """Return the differences in a sentence."""
        difference = self.difference
        if difference == IDENTICAL:
            return "Difference 0, because the outputs of both systems are identical."
        if math.isnan(difference.value):
            return "The difference is undefined."
        people = f", {difference.labelled} of them scored by people" if difference.labelled else ""
        return (
            f"Difference {difference.value:+.3f} ({_tell_error(difference)}; {difference.documents} documents"
            f"{people}), of raw scores {self.raw.value:+.3f}."
        )


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdicts on all criteria, and the overall verdict."""

    terms: Terms
    lines: tuple[Line, ...]

    @property
    def outcome(self) -> Outcome:
        """Return the overall verdict: a regression if any criterion regressed, a pass only if all passed."""
        outcomes = {line.outcome for line in self.lines}
        if Outcome.REGRESSION in outcomes:
            return Outcome.REGRESSION
        return Outcome.HELD if outcomes == {Outcome.HELD} else Outcome.UNDECIDED

    def __str__(self) -> str:
        terms = self.terms
        head = (
            f"{self.outcome.upper()}: {terms.new} against {terms.old}, a loss of {-terms.margin:g} tolerated, "
            f"one-sided tests at {terms.level:.0%}"
        )
        return "\n".join([head, *map(str, self.lines)])


def hold_gate(table: pd.DataFrame, judge: JudgeFile, terms: Terms, bridge: Bridge | None = None) -> Gate:
    """Test on each criterion whether the new system is worse than the old one by more than the margin.

    Both calibrated and raw scores are tested. The verdict is "no worse" if both differences are above the margin. If a
    true difference is at or below the margin, this happens with a probability of at most ``level``. The verdict is
    "regression" if the calibrated difference is below the margin and the raw one is not above it. If all true
    differences are at or above the margin, this happens on any criterion with a probability of at most ``level``
    (Holm 1979). If calibration hides the judge's differences, there is no verdict, unless people's scores correct them.

    Args:
        table: the scored outputs: ``document``, ``system``, ``criterion``, ``raw``, ``score`` and ``people`` (people's
            mean score of the same output, NaN if there is none); also ``answers``, for the rate of changed verdicts,
            and ``output``, the text: the difference of identical outputs is known to be 0.
        judge: the judge, with its criteria.
        terms: the two systems, the margin and the level.
        bridge: the bridge to this judge, if the retired judge scored the old system (``join_across``).

    Raises:
        InputError: a system has no outputs, or the terms are invalid.
    """
    terms.check(table["system"])
    lines = [_compare(table[table["criterion"] == each.text], each, terms, bridge) for each in judge.criteria]
    return Gate(terms, _find_regressions(lines, terms))


def _compare(rows: pd.DataFrame, criterion: JudgeCriterion, terms: Terms, bridge: Bridge | None) -> Line:
    rows = rows[rows["system"].isin([terms.new, terms.old])]
    scale = float(criterion.low), float(criterion.high)
    flips = _find_flips(rows, criterion, terms.threshold)
    if _are_identical(rows, terms):
        same = (IDENTICAL, IDENTICAL, IDENTICAL)
        return Line(criterion.text, Outcome.HELD, *same, "Nothing has changed.", flips)
    difference = compare_systems(rows, terms.new, terms.old, "score", scale)
    on_raw = compare_systems(rows, terms.new, terms.old, "raw", scale)
    raw = compare_systems(rows.assign(people=math.nan), terms.new, terms.old, "raw", scale)
    unlinked = tell_unlinked(bridge, criterion.text) if bridge else ""
    if bridge and not unlinked:
        systems = terms.new, terms.old
        difference, on_raw, raw = (
            widen(each, rows, systems, bridge, terms.level) for each in (difference, on_raw, raw)
        )
    line = Line(criterion.text, Outcome.UNDECIDED, difference, raw, on_raw, "", flips)
    lacking = unlinked or _find_lack(difference, float(rows["score"].isna().mean()), terms)
    lacking = lacking or ("" if difference.labelled else _find_hidden(rows, difference, raw))
    if lacking:
        return replace(line, why=lacking, tested=False)
    p, p_raw = difference.below(terms.margin), on_raw.below(terms.margin)
    if max(p, p_raw) <= terms.level:
        return replace(
            line, outcome=Outcome.HELD, why=f"It lies above {terms.margin:g} (p = {max(p, p_raw):.3g})."
        )
    if p <= terms.level:
        return replace(line, why=_tell_unseen(on_raw, terms) or _tell_apart(line, "above", terms))
    why = f"It may be on either side of {terms.margin:g} (p = {p:.3g}): more documents would decide."
    return replace(line, why=_tell_unseen(difference, terms) or why)


def _are_identical(rows: pd.DataFrame, terms: Terms) -> bool:
    """Return whether both systems gave the same outputs to the same documents."""
    if "output" not in rows or rows.empty:
        return False
    sides = []
    for system in (terms.new, terms.old):
        side = rows[rows["system"] == system]
        sides.append(sorted(zip(side["document"].astype(str), side["output"].astype(str), strict=True)))
    return sides[0] == sides[1]


def _tell_unseen(difference: Difference, terms: Terms) -> str:
    """Return a sentence about rare losses that the sample can miss, or "" if they are not what prevents a verdict."""
    shift, chance = difference.value - terms.margin, difference.miss_loss(terms.margin)
    if chance <= terms.level or 1 - difference.level_at(terms.margin) > terms.level:
        return ""
    rooms = [(room.loss, room.documents) for room in difference.rooms]
    room, documents = max(rooms, key=lambda pair: (1 - shift / max(pair[0], shift)) ** pair[1])
    share = shift / room
    enough = math.ceil(math.log(terms.level) / math.log1p(-share))
    what = "labelled documents" if difference.labelled else "documents"
    return (
        f"If {share:.1%} of the outputs lose {room:.3g} points, the difference is {terms.margin:g}, and {documents} "
        f"{what} show no such loss with a probability of {chance:.0%}: at least {enough:,} would decide."
    )


def _tell_error(difference: Difference) -> str:
    if math.isnan(difference.se):
        return "no standard error, because all documents show the same difference"
    return f"standard error {difference.se:.3f}"


def _find_flips(rows: pd.DataFrame, criterion: JudgeCriterion, threshold: float | None) -> Spelled:
    middle = (criterion.low + criterion.high) / 2 if threshold is None else threshold
    answers = list(rows["answers"]) if "answers" in rows else [()] * len(rows)
    return Spelled(flip_rate(answers, middle, list(rows["document"])), ("threshold", "n", "answers"))


def _tell_apart(line: Line, side: str, terms: Terms) -> str:
    """Return a sentence that explains why calibrated and raw scores lead to different verdicts."""
    return (
        f"The difference of calibrated scores is {side} {terms.margin:g}, but that of raw scores is not "
        f"({line.on_raw.value:+.3f}, {_tell_error(line.on_raw)}): have people score outputs of both systems, "
        "and give their scores with --labels."
    )


def _find_hidden(rows: pd.DataFrame, difference: Difference, raw: Difference) -> str:
    """Return why calibrated scores hide the judge's differences, or "" if they do not."""
    scores = rows["score"].dropna()
    if scores.nunique() == 1 and rows["raw"].nunique() == 1:
        return f"Every output has the score {scores.iloc[0]:g}: the judge does not distinguish them."
    slopes = find_unmoved(rows)
    if slopes:
        return (
            tell_unmoved(*slopes.popitem())
            + " Learn the calibration again, or give people's scores with --labels."
        )
    if not difference.se > HARDLY * raw.se and raw.se > 0:
        return (
            f"The differences of calibrated scores hardly differ ({_tell_error(difference)}; of raw scores "
            f"{raw.se:.3f}): the calibration is flat in the range of these outputs."
        )
    return ""


def _find_lack(difference: Difference, unscored: float, terms: Terms) -> str:
    """Return why no test is possible, or "" if one is."""
    if difference.documents < max(terms.min_n, 2):
        return f"{difference.documents} documents have scores, but {max(terms.min_n, 2)} are required."
    if unscored > MISSING:
        return f"{unscored:.0%} of the outputs have no score: run the judge again."
    return ""


def _find_regressions(lines: Sequence[Line], terms: Terms) -> tuple[Line, ...]:
    """Return the lines that are regressions by Holm's method over the tested criteria."""
    tested = sorted((line for line in lines if line.tested), key=lambda line: _worse(line, terms))
    regressions: dict[str, Line] = {}
    for rank, line in enumerate(tested):
        p = _worse(line, terms)
        if p > terms.level / (len(tested) - rank):
            break
        if 1 - line.on_raw.level_at(terms.margin) <= terms.level:
            regressions[line.criterion] = replace(line, why=_tell_apart(line, "below", terms))
            continue
        why = f"It lies below {terms.margin:g} (p = {p:.3g})."
        regressions[line.criterion] = replace(line, outcome=Outcome.REGRESSION, why=why)
    return tuple(regressions.get(line.criterion, line) for line in lines)


def _worse(line: Line, terms: Terms) -> float:
    return line.difference.above(terms.margin)


def tell_basis(gate: Gate, judge: JudgeFile, bridge: Bridge | None = None) -> str:
    """Describe the data behind the differences, in sentences."""
    if bridge:
        return (
            f"“{gate.terms.old}” was scored by the retired judge “{bridge.old.name}”, so both means are linked scores. "
            "The errors count the links, and how much links differ between systems."
        )
    if any(line.difference.labelled for line in gate.lines):
        return "People's scores correct the judge for each system; these outputs must be a random draw."
    said = (
        f"People scored outputs of both systems in fewer than {LABELLED} documents, so the means are the judge's own. "
        "This assumes that its errors are equal on both systems."
    )
    errors = pd.DataFrame(
        [(label.criterion, label.system, label.people - label.score) for label in judge.labels],
        columns=["criterion", "system", "error"],
    )
    by_system = errors.groupby(["criterion", "system"])["error"].mean().groupby(level=0)
    apart = (by_system.max() - by_system.min()).max() if len(errors) else 0.0
    if apart > 0:
        said += f" In the study, its mean error differed by up to {apart:.2f} points between systems."
    return said


_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow."""


def render_junit(gate: Gate, judge: str) -> bytes:
    """Return a test case per criterion: a regression is a failure, an undecided result an error."""
    count = {outcome: sum(line.outcome is outcome for line in gate.lines) for outcome in Outcome}
    name = _NO_XML.sub("?", f"{judge}: {gate.terms.new} against {gate.terms.old}")
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(gate.lines)),
        failures=str(count[Outcome.REGRESSION]),
        errors=str(count[Outcome.UNDECIDED]),
    )
    for line in gate.lines:
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=_NO_XML.sub("?", line.criterion)
        )
        if line.outcome is Outcome.HELD:
            ElementTree.SubElement(case, "system-out").text = f"{line.figures} {line.why} {line.flipping}"
        else:
            kind = "failure" if line.outcome is Outcome.REGRESSION else "error"
            told = ElementTree.SubElement(case, kind, type=str(line.outcome), message=line.why)
            told.text = f"{line.figures} {line.flipping}"
    root = ElementTree.Element("testsuites")
    root.append(suite)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def write_junit(path: Path, gate: Gate, judge: str) -> None:
    """Write the JUnit file.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.write_bytes(render_junit(gate, judge))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
