"""Clearer wordings from corrections: the model reads and proposes, people accept or refuse.

Nothing here changes a criterion. A proposal is shown as a difference; taken, it becomes a criterion of a new set, by a
vote, as any other.
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
from coeval.llm.reading.cleanup import strip_thoughts
from coeval.llm.reading.markup import strip_markup

MOST_SHOWN = 8
"""Largest number of corrections per group that the model reads, those with a reason first."""

SHOWN_TEXT, MAX_TEXT, MAX_ANSWER = 600, 1000, 50_000

_LINE = re.compile(
    r"^[ \t]*(?:(?P<criterion>criterion)|meaning of[ \t]*(?P<score>-?\d{1,6})|(?P<why>why))"
    r"[ \t]*[:：][ \t]*(?P<text>\S.*)$",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class CorrectionGroup:
    """Corrections in one direction on one criterion: people gave ``more`` than the judge, or less."""

    more: bool
    corrections: tuple[Correction, ...]
    lines: int

    @property
    def title(self) -> str:
        word = "higher" if self.more else "lower"
        return f"People gave a {word} score on {len(self.corrections)} of {self.lines} lines"


@dataclass(frozen=True, slots=True)
class WordingProposal:
    """The model's proposal for a criterion: a text, meanings of some scores, and reasons. It changes nothing."""

    criterion: str
    text: str
    anchors: tuple[tuple[int, str], ...] = ()
    why: str = ""

    @property
    def changes(self) -> bool:
        """Return whether the proposal changes anything."""
        return bool(self.anchors) or " ".join(self.text.split()) != " ".join(self.criterion.split())


def group_corrections(corrections: Sequence[Correction], criterion: str) -> tuple[CorrectionGroup, ...]:
    """Return the lines on which people gave more, and those on which they gave less, the larger group first.

    Within a group those with a reason come first, then those farthest from the judge's score.
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
    """Return the question to the model: the criterion, and its groups of corrections as data that cannot
    close their tags.

    Raises
    ------
    InputError
        If nobody corrected anything by this criterion.
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
    """Ask once for a sharper wording of a criterion.

    ``corrections`` are of the dev documents only: a wording that has seen the certificate's would spoil it. ``sample``
    is the number of earlier proposals, since the same sample would come from the ledger.

    Raises
    ------
    InputError
        If nobody corrected anything by this criterion.
    UnreadableAnswerError
        If the answer has no line of those that it was asked for.
    ModelError
        If no answer could be had.
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
    """Return a model's answer as a proposal; without a wording, the criterion's text stays. Never raise.

    The last wording counts, as models correct themselves; meanings of scores off the scale are left out.

    >>> answer = "Criterion: Be short.\\nMeaning of 1: A page.\\nMeaning of 9: ?\\nWhy: Length."
    >>> read_wording(answer, "Be brief.", Scale())
    WordingProposal(criterion='Be brief.', text='Be short.', anchors=((1, 'A page.'),), why='Length.')
    """
    text, why, anchors = criterion, "", {}
    for match in _find_lines(answer):
        words = match["text"].strip()[:MAX_TEXT]
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
