"""Clearer wordings from people's corrections: the model proposes a wording, and people accept or refuse it.

This module never changes a criterion. A proposal is shown as a difference. Once accepted, it becomes a criterion of a
new set by a vote, like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coeval.domain import Ask, Criterion, Request, Scale, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.extensions.judge.learning.examples import Correction, shorten_middle
from coeval.llm.prompting.questions import render_request
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.prompting.template_values import render_block, render_guided, scale_values, task_values
from coeval.llm.reading.markup import strip_markup, strip_thoughts

MOST_SHOWN = 8
"""Largest number of corrections per group for the model. Corrections with a reason come first."""

SHOWN_TEXT, MAX_PROPOSAL, MAX_ANSWER = 600, 1000, 50_000

_LINE = re.compile(
    r"^[ \t]*(?:(?P<criterion>criterion)|meaning of[ \t]*(?P<score>-?\d{1,6})|(?P<why>why))"
    r"[ \t]*[:：][ \t]*(?P<text>\S.*)$",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class CorrectionGroup:
    """Corrections in one direction on one criterion: people scored higher than the judge (``more``) or lower."""

    more: bool
    corrections: tuple[Correction, ...]
    lines: int

    @property
    def title(self) -> str:
        word = "higher" if self.more else "lower"
        return f"People gave a {word} score on {len(self.corrections)} of {self.lines} lines"


@dataclass(frozen=True, slots=True)
class WordingProposal:
    """The model's proposal for a criterion: a text, meanings of some scores, and a reason."""

    criterion: str
    text: str
    anchors: tuple[tuple[int, str], ...] = ()
    why: str = ""

    @property
    def changes(self) -> bool:
        """Return whether the proposal changes anything."""
        return bool(self.anchors) or " ".join(self.text.split()) != " ".join(self.criterion.split())


def group_corrections(corrections: Sequence[Correction], criterion: str) -> tuple[CorrectionGroup, ...]:
    """Return the lines that people scored higher than the judge, and those that they scored lower, larger group first.

    Within a group, corrections with a reason come first, then those that differ most from the judge's score.
    """
    own = [c for c in corrections if c.criterion == criterion]
    groups = []
    for more in (True, False):
        part = [c for c in own if (c.score > c.drafted if more else c.score < c.drafted)]
        part.sort(key=lambda c: (not c.reason, -abs(c.score - c.drafted), c.instance))
        if part:
            groups.append(CorrectionGroup(more, tuple(part), len(own)))
    return tuple(sorted(groups, key=lambda group: -len(group.corrections)))


def render_wording_request(
    task: Task,
    criterion: Criterion,
    groups: Sequence[CorrectionGroup],
    model: str,
    templates: Path | None = None,
) -> Request:
    """Return the question to the model: the criterion, and its corrections as data that cannot close their tags.

    Raises
    ------
    InputError
        If nobody corrected a score on this criterion.
    """
    if not groups:
        raise InputError(
            f"Nobody has corrected a score on “{criterion.text[:80]}”, so there are no corrections to "
            "learn from."
        )
    values = task_values(task) | scale_values(criterion.scale)
    values |= {"criterion": render_guided(criterion), "groups": "\n\n".join(map(_render_group, groups))}
    return render_request("wording", values, JudgeOptions(model, templates=templates))


async def propose_wording(
    ask: Ask,
    task: Task,
    criterion: Criterion,
    corrections: Sequence[Correction],
    model: str,
    templates: Path | None = None,
    *,
    sample: int = 0,
) -> WordingProposal:
    """Ask the model once for a clearer wording of a criterion.

    ``corrections`` must come from dev documents only: a wording that depends on sealed documents would invalidate the
    certificate. ``sample`` is the number of earlier proposals, because a repeated number would return the same answer
    from the ledger.

    Raises
    ------
    InputError
        If nobody corrected a score on this criterion.
    UnreadableAnswerError
        If the answer has none of the requested lines.
    ModelError
        If the request failed.
    """
    groups = group_corrections(corrections, criterion.text)
    answer = await ask(render_wording_request(task, criterion, groups, model, templates), sample)
    if not _find_lines(answer.text):
        raise UnreadableAnswerError(
            f"The model's answer about “{criterion.text[:80]}” has no line “Criterion:”: try again, or "
            "use another model."
        )
    return read_wording(answer.text, criterion.text, criterion.scale)


def read_wording(answer: str, criterion: str, scale: Scale) -> WordingProposal:
    """Parse a model's answer into a proposal. If it has no wording, the criterion's text stays. Never raise.

    The last wording counts, because models correct themselves. Meanings of scores off the scale are left out.

    >>> answer = "Criterion: Be short.\\nMeaning of 1: A page.\\nMeaning of 9: ?\\nWhy: Length."
    >>> read_wording(answer, "Be brief.", Scale())
    WordingProposal(criterion='Be brief.', text='Be short.', anchors=((1, 'A page.'),), why='Length.')
    """
    text, why, anchors = criterion, "", {}
    for match in _find_lines(answer):
        words = match["text"].strip()[:MAX_PROPOSAL]
        if match["criterion"]:
            text = words
        elif match["why"]:
            why = words
        elif int(match["score"]) in scale.steps:
            anchors[int(match["score"])] = words
    return WordingProposal(criterion, text, tuple(sorted(anchors.items())), why)


def _find_lines(answer: str) -> list[re.Match[str]]:
    return list(_LINE.finditer(strip_markup(strip_thoughts(answer[:MAX_ANSWER]))))


def _render_group(group: CorrectionGroup) -> str:
    shown = group.corrections[:MOST_SHOWN]
    return "\n".join([f"### {group.title}", *(_render_correction(n, c) for n, c in enumerate(shown, 1))])


def _render_correction(number: int, correction: Correction) -> str:
    told = f"The model gave {correction.drafted:g}, a person {correction.score:g}."
    reason = (
        [render_block("sample_context", correction.reason[:SHOWN_TEXT], "reason")]
        if correction.reason
        else []
    )
    output = render_block("sample_output", shorten_middle(correction.output, SHOWN_TEXT))
    return "\n".join([f"{number}. {told}", output, *reason])
