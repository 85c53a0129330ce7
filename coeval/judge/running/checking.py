"""``judge check``: a judge's endpoint is asked the questions of its certificate anew."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coeval.domain import Answer, Ask, ImportedDraft, Instance, Request
from coeval.errors import InputError, ModelError
from coeval.judge.artifact.building import hash_questions, mark_output
from coeval.judge.artifact.schema import JudgeFile, Question
from coeval.judge.drift import FEWEST, Answers, Drift, find_drift
from coeval.judge.running.asker import Asker, open_askers
from coeval.judge.running.judge import Asked, drafts_of
from coeval.judge.running.judging_tables import Bar
from coeval.llm.protocols.protocol import Item, Protocol
from coeval.llm.running.judging import Judged, judge_item
from coeval.llm.running.pool import Outcome, run_all
from coeval.llm.running.runner import build_runner
from coeval.store import Store
from coeval.store.queries.drafting.calls import StoredLedger

APART = 1000
"""Samples of one pass and the next stand so far apart."""
READABLE = 0.8
"""With a smaller share of questions answered readably nothing is said of the scores."""


@dataclass(frozen=True, slots=True)
class Check:
    """What came of the questions: the test, and how many of them were answered readably."""

    drift: Drift
    asked: int
    answered: int

    @property
    def tells(self) -> bool:
        """Whether there is enough to test by."""
        return self.drift.questions >= FEWEST and self.answered >= READABLE * self.asked


@dataclass(frozen=True, slots=True)
class _Ready:
    """A question with the protocol, the instance and the item by which it is asked again."""

    question: Question
    protocol: Protocol
    instance: Instance
    item: Item
    number: int
    """Of its criterion."""


async def check_judge(judge: JudgeFile, samples: Sequence[Instance], asked: Asked, passes: int = 0) -> Check:
    """Ask the questions of a judge's certificate anew, and test whether the answers are as they were.

    Nothing comes from a ledger, and nothing is kept.

    Args:
        samples: where the file does not hold their texts, the outputs that the questions are about, among others.
        asked: the endpoint; its ledger is not used.
        passes: how often each question is asked; 0 for twice where one answer makes a score, else once.

    Raises:
        InputError: the file holds no questions, texts are lacking, or a question would not be the same.
        ModelError: no model is set up, or the endpoint refused.
    """
    if not judge.questions:
        raise InputError(
            f"“{judge.name}” holds no questions to ask again: write it anew from a study with drafts."
        )
    known = {mark_output(one, judge.salt): one for one in samples}
    told: list[Answers] = []
    with open_askers(judge) as askers, tempfile.TemporaryDirectory() as folder:
        ready = [_prepare(judge, askers, question, known) for question in judge.questions]
        for name, asker in askers.items():
            own = [each for each in ready if each.question.judge == name]
            repeats = passes or (1 if asker.protocol.answers > 1 else 2)
            fresh = replace(asked, ledger=Path(folder, "calls.db"))
            drafts = await _ask_again(name, own, repeats, fresh)
            told += [_pair(each, drafts) for each in own]
    answered = [each for each in told if not all(map(math.isnan, each.new))]
    return Check(find_drift(answered), len(told), len(answered))


def _prepare(
    judge: JudgeFile, askers: Mapping[str, Asker], question: Question, known: Mapping[str, Instance]
) -> _Ready:
    instance = _find_instance(question, known)
    if mark_output(instance, judge.salt) != question.output:
        raise InputError(
            f"The texts of a question by “{question.criterion[:60]}” do not match its hash: get the file anew."
        )
    asker = askers[question.judge]
    numbers = {each.text: number for number, each in enumerate(judge.criteria, 1)}
    number = numbers[question.criterion]
    for protocol in (asker.plain, asker.beside(instance)):
        together = protocol.options.criteria_per_call != 1
        items = protocol.group((0, each) for each in (numbers.values() if together else (number,)))
        item = next(item for item in items if number in item.criteria)
        if hash_questions(protocol.render_calls(item, instance)) == question.request:
            return _Ready(question, protocol, instance, item, number)
    raise InputError(
        f"A question by “{question.criterion[:60]}” would not be the one that was asked: this version of CoEval words "
        "it otherwise. Use the version that wrote the file."
    )


def _find_instance(question: Question, known: Mapping[str, Instance]) -> Instance:
    if question.sample is not None:
        sample = question.sample
        return Instance("", sample.input, sample.output, reference=sample.reference, context=sample.context)
    if question.output not in known:
        raise InputError(
            "The file holds the questions' hashes and not their texts: give a table of the study's inputs and outputs "
            "with --questions."
        )
    return known[question.output]


async def _ask_again(
    name: str, ready: Sequence[_Ready], repeats: int, asked: Asked
) -> Mapping[tuple[str, int, int], ImportedDraft]:
    """The new drafts by the request, the pass and the number of the criterion; an item is asked once a pass."""
    items = {(each.question.request, turn): each for each in ready for turn in range(repeats)}
    drafts: dict[tuple[str, int, int], ImportedDraft] = {}
    runner = build_runner(
        asked.settings,
        StoredLedger(Store(asked.ledger)),
        concurrency=asked.concurrency or asked.settings.concurrency,
    )

    async def judge(key: tuple[str, int]) -> Judged:
        each = items[key]
        return await judge_item(
            each.protocol, _from(runner.ask, APART * key[1]), each.item, each.instance, ""
        )

    def store(outcomes: Sequence[Outcome[tuple[str, int], Judged]]) -> None:
        for outcome in outcomes:
            request, turn = outcome.item
            whole = Outcome(items[outcome.item].item, outcome.result, outcome.error)
            for number, draft in drafts_of(whole):
                drafts[request, turn, number] = draft

    async with runner:
        with Bar(asked.progress, name) as bar:
            summary = await run_all(
                items, judge, concurrency=runner.judgments, on_result=store, on_progress=bar.show,
                total=len(items), usage=runner.usage,
            )  # fmt: skip
    if summary.stopped:
        raise ModelError(summary.stopped)
    return drafts


def _from(ask: Ask, first: int) -> Ask:
    async def asked(request: Request, sample: int) -> Answer:
        return await ask(request, first + sample)

    return asked


def _pair(each: _Ready, drafts: Mapping[tuple[str, int, int], ImportedDraft]) -> Answers:
    """Old and new scores of a question; a pass that gave none counts as one that could not be read."""
    new: list[float] = []
    turns = (draft for (request, _, number), draft in drafts.items()
             if (request, number) == (each.question.request, each.number))  # fmt: skip
    for draft in turns:
        new += draft.samples or (math.nan if draft.score is None else draft.score,)
    scale = each.protocol.brief.criteria[each.number].scale
    return Answers(each.question.request, each.question.scores, tuple(new), float(scale.high - scale.low))
