"""Choose worked examples for the judge's prompt from corrections, and ask the judge again with them.

A correction is a person's score of a line that a judge scored. Informative corrections differ much from the judge's
score and give a reason. The choice is balanced over people's scores, so that examples do not teach a single answer, and
takes at most one line per document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from coeval.domain import Instance
from coeval.errors import InputError, ModelError
from coeval.extensions.judge.learning.cross_validation import FOLDS, fold_documents
from coeval.extensions.judge.model.labels import JUDGES, PROBABILITIES, Labels, summarise_answers
from coeval.llm.prompting.worked_examples import Example, mark_document, with_examples
from coeval.llm.protocols.protocol import Brief, Item, Protocol, build_protocol, get_protocol
from coeval.llm.running.judged_items import Judged, judge_item
from coeval.llm.running.pool import Outcome, run_all
from coeval.llm.running.progress import Progress
from coeval.llm.running.runner import Runner

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


@dataclass(frozen=True, slots=True)
class Question:
    """A line to judge with examples in the prompt, which come from other documents."""

    instance: str
    criterion: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer to a question, like a row of ``Labels.judges``. ``score`` is NaN if it is unreadable."""

    score: float
    spread: float = np.nan
    probabilities: tuple[float, ...] | None = None


JudgeAgain = Callable[[Sequence[Question]], Awaitable[Sequence[Verdict]]]
"""A function that asks the model and returns one verdict per question, in order. The caller provides the ledger,
limits and progress.
"""


def choose_examples(
    corrections: Sequence[Correction], criterion: str, number: int, salt: str
) -> tuple[Example, ...]:
    """Return at most ``number`` examples for one criterion; see ``choose_corrections``."""
    return tuple(make_example(c, salt) for c in choose_corrections(corrections, criterion, number, salt))


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
    for given in by_line.values():
        scores = sorted(c.score for c in given)
        if scores[-1] - scores[0] > 1:
            continue
        middle = [c for c in given if c.score == scores[(len(scores) - 1) // 2]]
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


async def judge_with_examples(
    labels: Labels,
    corrections: Sequence[Correction],
    number: int,
    ask: JudgeAgain,
    judge: str,
    *,
    salt: str,
    folds: int = FOLDS,
    seed: int = 0,
) -> Labels:
    """Return ``labels`` with the scores that the judge gives when it sees examples from other documents.

    The judge is asked only about lines that people scored. Corrections of documents outside ``labels`` are ignored, so
    the sealed part stays out even if a caller passes it.
    """
    rows: list[Question] = []
    for own in fold_documents(labels, folds, seed):
        here, allowed = set(own), set(labels.documents) - set(own)
        rest = [c for c in corrections if c.document in allowed]
        chosen = {c: choose_examples(rest, c, number, salt) for c in labels.criteria}
        lines = labels.people[labels.people["document"].isin(here)][
            ["instance", "criterion"]
        ].drop_duplicates()
        rows += [
            Question(instance, criterion, chosen[criterion])
            for instance, criterion in lines.itertuples(index=False, name=None)
        ]
    verdicts = await ask(rows)
    if len(verdicts) != len(rows):
        raise ValueError(
            f"{len(rows)} questions were asked and {len(verdicts)} answered; answer each, in order."
        )
    table = pd.DataFrame(
        [
            (q.instance, q.criterion, judge, v.score, v.spread, v.probabilities)
            for q, v in zip(rows, verdicts, strict=True)
        ],
        columns=[*JUDGES, PROBABILITIES],
    ).astype({"score": float, "spread": float})
    return Labels(labels.people, table, labels.scales)


REMEDY = "Learn again: what was answered is in the ledger."


class ExampleAsker:
    """A ``JudgeAgain`` that asks about one criterion per question, with the examples in the criterion's guide.

    Parameters
    ----------
    brief : the judge's task, criteria and options. Criteria are identified by their text.
    instances : the instances of the questions, by external id.
    runner : an open runner, which stores every answer in its ledger.

    Raises
    ------
    InputError
        If the protocol compares outputs or needs a plan, because such protocols take no examples.
    """

    def __init__(
        self,
        brief: Brief,
        instances: Mapping[str, Instance],
        runner: Runner,
        *,
        should_stop: Callable[[], bool] = lambda: False,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        chosen = get_protocol(brief.options.protocol)
        if chosen.compares or chosen.uses_assistants:
            raise InputError(
                f"The protocol {chosen.name} takes no examples: learn from a run with another protocol."
            )
        self._brief, self._instances, self._runner = brief, instances, runner
        self._should_stop, self._on_progress = should_stop, on_progress
        self._numbers = {criterion.text: number for number, criterion in brief.criteria.items()}
        self._known: dict[tuple[str, tuple[Example, ...]], Protocol] = {}

    async def __call__(self, questions: Sequence[Question]) -> list[Verdict]:
        """Return one verdict per question, in order, with NaN for unreadable answers.

        Raises
        ------
        ModelError
            If the run ended early. Earlier answers are in the ledger.
        """
        verdicts = [Verdict(float("nan"))] * len(questions)

        async def judge(place: int) -> Judged:
            question = questions[place]
            item = Item(place, (self._numbers[question.criterion],))
            instance = self._instances[question.instance]
            return await judge_item(self._protocol(question), self._runner.ask, item, instance, REMEDY)

        def keep(outcomes: Sequence[Outcome[int, Judged]]) -> None:
            for outcome in outcomes:
                if outcome.result is not None:
                    verdicts[outcome.item] = self._verdict(questions[outcome.item], outcome.result)

        summary = await run_all(
            range(len(questions)),
            judge,
            concurrency=self._runner.judgments,
            on_result=keep,
            should_stop=self._should_stop,
            on_progress=self._on_progress,
            total=len(questions),
            usage=self._runner.usage,
            unread=Judged.unread,
        )
        if summary.stopped:
            raise ModelError(f"{summary.stopped} {REMEDY}")
        return verdicts

    def _protocol(self, question: Question) -> Protocol:
        """Return a protocol that asks only about the question's criterion, with its examples."""
        key = question.criterion, question.examples
        if key not in self._known:
            number = self._numbers[question.criterion]
            shown = with_examples(self._brief.criteria[number], question.examples, self._brief.task)
            self._known[key] = build_protocol(replace(self._brief, criteria={number: shown}))
        return self._known[key]

    def _verdict(self, question: Question, judged: Judged) -> Verdict:
        number = self._numbers[question.criterion]
        draft = judged.judgment.drafts[number]
        return Verdict(*summarise_answers(draft.score, draft.samples, draft.probabilities))
