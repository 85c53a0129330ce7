"""What people's corrections add to a judge's prompts: examples for its questions, and clearer wordings of criteria.

The model proposes a wording, and people accept or refuse it. This module never changes a criterion. A proposal is shown
as a difference. Once accepted, it becomes a criterion of a new set by a vote, like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coeval.domain import Answer, Ask, Criterion, Request, Scale, Task
from coeval.errors import InputError, UnreadableAnswerError
from coeval.llm.prompting.questions import (
    MAX_QUOTE,
    Example,
    build_list,
    build_object,
    build_text,
    level_schema,
    mark_document,
    render_request,
)
from coeval.llm.prompting.template_files import (
    JudgeOptions,
    render_block,
    render_guided,
    scale_values,
    task_values,
)
from coeval.llm.protocols.ladder import ask_until_read
from coeval.llm.reading.answer_text import find_json, strip_markup, strip_thoughts
from coeval.llm.reading.scores import read_value

MAX_SHOWN = 1500
"""Maximum length of an input or output in an example. The middle of longer texts is left out."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One person's score of a line that a judge scored, with input, output and the person's reason, if any."""

    instance: str
    document: str
    criterion: str
    input: str
    output: str
    drafted: float
    score: float
    reason: str = ""


def choose_corrections(
    corrections: Sequence[Correction], criterion: str, number: int, salt: str
) -> tuple[Correction, ...]:
    """Return at most ``number`` corrections on one criterion as examples, the most informative first within each score.

    Scores take turns, beginning with the score on which people and the judge disagree most. A line on which people
    differ by more than a step is no example. The salted hash of the document breaks ties, so the choice is
    reproducible.
    """
    lines = _agreed([c for c in corrections if c.criterion == criterion])
    by_score: dict[float, list[Correction]] = {}
    for line in sorted(
        lines, key=lambda c: (-abs(c.score - c.drafted), not c.reason, mark_document(c.document, salt))
    ):
        by_score.setdefault(line.score, []).append(line)
    chosen: list[Correction] = []
    while by_score and len(chosen) < number:
        for score in list(by_score):
            seen = {c.document for c in chosen}
            fresh = [c for c in by_score[score] if c.document not in seen]
            if not fresh:
                del by_score[score]
            elif len(chosen) < number:
                chosen.append(fresh[0])
    return tuple(chosen)


def _agreed(corrections: Sequence[Correction]) -> list[Correction]:
    """Return one correction per line: the median score, with the longest reason from people who gave it."""
    by_line: dict[str, list[Correction]] = {}
    for correction in corrections:
        by_line.setdefault(correction.instance, []).append(correction)
    agreed = []
    for line in by_line.values():
        scores = sorted(c.score for c in line)
        if scores[-1] - scores[0] > 1:
            continue
        middle = [c for c in line if c.score == scores[(len(scores) - 1) // 2]]
        agreed.append(max(middle, key=lambda c: len(c.reason)))
    return agreed


def make_example(correction: Correction, salt: str) -> Example:
    """Return a correction as an example for a question, with shortened texts."""
    return Example(
        input=shorten_middle(correction.input),
        output=shorten_middle(correction.output),
        criterion=correction.criterion,
        score=correction.score,
        reason=correction.reason[:MAX_SHOWN],
        document=mark_document(correction.document, salt),
    )


def shorten_middle(text: str, most: int = MAX_SHOWN) -> str:
    """Return a text without its middle if it is longer than ``most`` characters.

    >>> shorten_middle("abcdefghij", 8)
    'abc … ij'
    """
    if len(text) <= most:
        return text
    head = (most - 3 + 1) // 2
    return f"{text[:head]} … {text[len(text) - (most - 3 - head) :]}"


MOST_SHOWN = 8
"""Largest number of corrections per group for the model. Corrections with a reason come first."""

SHOWN_TEXT, MAX_PROPOSAL, MAX_ANSWER = 600, 1000, 50_000

FORM = '{"criterion": "...", "meanings": [{"score": ..., "meaning": "..."}], "why": "..."}'
NO_WORDING = "it has no wording of the criterion"


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
    lines = [c for c in corrections if c.criterion == criterion]
    groups = []
    for more in (True, False):
        part = [c for c in lines if (c.score > c.drafted if more else c.score < c.drafted)]
        part.sort(key=lambda c: (not c.reason, -abs(c.score - c.drafted), c.instance))
        if part:
            groups.append(CorrectionGroup(more, tuple(part), len(lines)))
    return tuple(sorted(groups, key=lambda group: -len(group.corrections)))


def render_wording_request(
    task: Task,
    criterion: Criterion,
    groups: Sequence[CorrectionGroup],
    options: JudgeOptions,
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
    meaning = build_object({"score": level_schema(criterion.scale.steps), "meaning": build_text(MAX_QUOTE)})
    schema = build_object(
        {
            "criterion": build_text(MAX_PROPOSAL),
            "meanings": build_list(meaning, len(criterion.scale.steps)),
            "why": build_text(MAX_PROPOSAL),
        }
    )
    return render_request("wording", values, options, schema=schema)


async def propose_wording(
    ask: Ask,
    task: Task,
    criterion: Criterion,
    corrections: Sequence[Correction],
    options: JudgeOptions,
    *,
    sample: int = 0,
) -> WordingProposal:
    """Ask the model for a clearer wording of a criterion, and once more if the answer is not in the form.

    ``corrections`` must come from dev documents only: a wording that depends on sealed documents would invalidate the
    certificate. ``sample`` is the number of earlier proposals, because a repeated number would return the same answer
    from the ledger.

    Raises
    ------
    InputError
        If nobody corrected a score on this criterion.
    UnreadableAnswerError
        If no answer has a wording.
    ModelError
        If the request failed.
    """
    groups = group_corrections(corrections, criterion.text)
    request = render_wording_request(task, criterion, groups, options)

    def read(answer: Answer) -> tuple[WordingProposal | None, str]:
        proposal = read_wording(answer.text, criterion.text, criterion.scale)
        return proposal, "" if proposal else NO_WORDING

    reply = await ask_until_read(ask, request, sample, read, FORM, templates=options.templates)
    if reply.value is None:
        raise UnreadableAnswerError(f"There is no wording of “{criterion.text[:80]}”. {reply.reason}")
    return reply.value


def read_wording(answer: str, criterion: str, scale: Scale) -> WordingProposal | None:
    """Parse a model's answer into a proposal; None if it has no wording. Never raise.

    The last complete object counts. Meanings of scores off the scale are left out.

    >>> answer = '{"criterion": "Be short.", "meanings": [{"score": 1, "meaning": "A page."}], "why": "Length."}'
    >>> read_wording(answer, "Be brief.", Scale())
    WordingProposal(criterion='Be brief.', text='Be short.', anchors=((1, 'A page.'),), why='Length.')
    """
    for document in reversed(find_json(strip_thoughts(answer[:MAX_ANSWER]))):
        members = document.value if isinstance(document.value, dict) and not document.inside else {}
        text, why = (_text(members.get(name)) for name in ("criterion", "why"))
        if text:
            return WordingProposal(
                criterion, text, tuple(_read_meanings(members.get("meanings"), scale)), why
            )
    return None


def _read_meanings(listed: object, scale: Scale) -> Iterator[tuple[int, str]]:
    anchors: dict[int, str] = {}
    for entry in listed if isinstance(listed, list) else []:
        score, _ = read_value(
            entry.get("score") if isinstance(entry, dict) else None, (scale.low, scale.high)
        )
        if score is not None and score in scale.steps and (meaning := _text(entry.get("meaning"))):
            anchors[int(score)] = meaning
    yield from sorted(anchors.items())


def _text(value: object) -> str:
    return strip_markup(value).strip()[:MAX_PROPOSAL] if isinstance(value, str) else ""


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
