"""``judge check``: repeat the certificate's questions, and test whether the endpoint still answers the same way."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy

from coeval.domain import Answer, Ask, ImportedDraft, Instance, Request
from coeval.errors import InputError, ModelError
from coeval.extensions.judge.model.file_schema import JudgeFile, Question, hash_questions, mark_output
from coeval.extensions.judge.runtime.judge import Asked, Asker, drafts_of, open_askers
from coeval.llm.protocols.protocol import Item, Protocol
from coeval.llm.running.judgment_table import Bar
from coeval.llm.running.pool import Judged, Outcome, judge_item, run_all
from coeval.stats.rating_matrix import Numbers

# A permutation test compares old and new answers to the same questions.

DRAWS = 1999
LEVEL = 0.01
POWER = 0.8
FEWEST = 10
"""With fewer questions than this, there is no verdict."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The scores of one question in ``old`` and ``new`` answers.

    Questions with the same ``block`` share their answers, in the same order. An unreadable score is NaN. ``span`` is
    the range of the scale, which makes differences comparable.
    """

    block: str
    old: tuple[float, ...]
    new: tuple[float, ...]
    span: float = 1.0


@dataclass(frozen=True, slots=True)
class Drift:
    """The result of the test: the p-value of "nothing changed", and the shift (new minus old) as a share of the scale.

    ``noise`` is the standard deviation of the shift over the permutations, which is due to chance alone.
    """

    p_value: float
    shift: float
    questions: int
    noise: float = 0.0

    def shown(self, level: float) -> bool:
        """Return whether the answers differ by more than chance, with false alarms at a rate of at most ``level``."""
        return self.p_value <= level

    def find_least(self, level: float) -> float:
        """Return the smallest shift, as a share of the scale, that this test finds with probability ``POWER``.

        It is about (z(1 - level / 4) + z(POWER)) times the noise, because the test is two-sided and uses two
        statistics.

        >>> round(Drift(0.5, 0.0, 60, noise=0.02).find_least(0.01), 3)
        0.073
        """
        return float(scipy.special.ndtri(1 - level / 4) + scipy.special.ndtri(POWER)) * self.noise


def find_drift(answers: Sequence[Answers]) -> Drift:
    """Test whether new answers differ from old ones in their mean or in their spread.

    If nothing changed, old and new answers within a block are interchangeable, so they are permuted. There are two
    statistics: the shift of the mean, and the energy distance, which also detects changes without a shift if a question
    has two old or two new answers. The smaller of their p-values is compared with its own permutation distribution, so
    that the rate of false alarms is at most the level, whatever the distribution of the answers.

    Sources: Székely and Rizzo 2013, Energy statistics; Westfall and Young 1993 on the smallest p-value.

    >>> same = [Answers(str(n), (3.0, 4.0), (4.0, 3.0)) for n in range(20)]
    >>> lower = [Answers(str(n), (3.0, 4.0), (2.0, 3.0)) for n in range(20)]
    >>> find_drift(same).p_value > 0.5, find_drift(lower).p_value < 0.01
    (True, True)
    """
    rng = np.random.default_rng(0)
    shifts, energies = np.zeros(DRAWS + 1), np.zeros(DRAWS + 1)
    total = 0
    for block in _group(answers):
        scores = np.array([[*each.old, *each.new] for each in block]) / np.array(
            [[each.span] for each in block]
        )
        n_old, n = len(block[0].old), scores.shape[1]
        deals = np.argsort(rng.random((DRAWS + 1, n)), axis=1)
        deals[0] = np.arange(n)
        for row in scores:
            dealt = row[deals]
            shift, energy = _compare(dealt[:, :n_old], dealt[:, n_old:])
            shifts += shift
            energies += energy
            total += 1
    smallest = np.minimum(_p_values(np.abs(shifts)), _p_values(energies))
    p = float((smallest <= smallest[0] + 1e-12).mean())
    if not total:
        return Drift(p, 0.0, 0)
    return Drift(p, float(shifts[0] / total), total, float(shifts[1:].std() / total))


def _group(answers: Iterable[Answers]) -> list[list[Answers]]:
    """Group the questions for the permutation by their block and their numbers of answers."""
    groups: dict[tuple[str, int, int], list[Answers]] = {}
    for each in answers:
        groups.setdefault((each.block, len(each.old), len(each.new)), []).append(each)
    return list(groups.values())


def _compare(old: Numbers, new: Numbers) -> tuple[Numbers, Numbers]:
    """Return the shift of the mean and the energy distance for each permutation, 0 if a side has no scores."""
    known_old, known_new = ~np.isnan(old), ~np.isnan(new)
    comparable = known_old.any(axis=1) & known_new.any(axis=1)
    shift = np.where(comparable, _mean(new, known_new) - _mean(old, known_old), 0.0)
    energy = 2 * _distance(old, new) - _distance(old, old) - _distance(new, new)
    return shift, np.where(comparable, energy, 0.0)


def _mean(values: Numbers, mask: Numbers) -> Numbers:
    return np.asarray(np.where(mask, values, 0.0).sum(axis=1) / np.maximum(mask.sum(axis=1), 1))


def _distance(first: Numbers, other: Numbers) -> Numbers:
    """Return the mean distance between old and new answers, for each permutation."""
    gaps = np.abs(first[:, :, None] - other[:, None, :]).reshape(len(first), -1)
    return _mean(gaps, ~np.isnan(gaps))


def _p_values(statistic: Numbers) -> Numbers:
    """Return, for each permutation, the share of permutations that are at least as extreme."""
    rounded = np.round(statistic, 9)
    ranked = np.sort(rounded)
    return np.asarray(1 - np.searchsorted(ranked, rounded, side="left") / len(ranked))


APART = 1000
"""The distance between sample numbers of two passes."""
READABLE = 0.8
"""With a smaller share of readable answers than this, there is no verdict."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: the test, and the number of readable answers."""

    drift: Drift
    asked: int
    answered: int

    @property
    def tells(self) -> bool:
        """Return whether there is enough data for a test."""
        return self.drift.questions >= FEWEST and self.answered >= READABLE * self.asked


@dataclass(frozen=True, slots=True)
class _Ready:
    """A question with the protocol, instance and item for repeating it."""

    question: Question
    protocol: Protocol
    instance: Instance
    item: Item
    number: int
    """The number of its criterion."""


async def check_judge(judge: JudgeFile, samples: Sequence[Instance], asked: Asked, passes: int = 0) -> Check:
    """Repeat the questions of a judge's certificate, and test whether the answers have changed.

    No ledger is read or written.

    Args:
        samples: outputs that include those of the questions, if the file does not contain their texts.
        asked: the endpoint; its ledger is not used.
        passes: the number of times each question is asked; 0 means twice if one answer makes a score, or else once.

    Raises:
        InputError: the file has no questions, texts are missing, or a question would differ from the original.
        ModelError: no model is set up, or the endpoint refused.
    """
    if not judge.questions:
        raise InputError(
            f"“{judge.name}” contains no questions to ask again: write it again from a study with drafts."
        )
    by_mark = {mark_output(item, judge.salt): item for item in samples}
    told: list[Answers] = []
    with open_askers(judge) as askers, tempfile.TemporaryDirectory() as folder:
        ready = [_prepare(judge, askers, question, by_mark) for question in judge.questions]
        for name, asker in askers.items():
            questions = [each for each in ready if each.question.judge == name]
            repeats = passes or (1 if asker.protocol.answers > 1 else 2)
            fresh = replace(asked, ledger=Path(folder, "calls.db"))
            drafts = await _ask_again(name, questions, repeats, fresh)
            told += [_pair(each, drafts) for each in questions]
    answered = [each for each in told if not all(map(math.isnan, each.new))]
    return Check(find_drift(answered), len(told), len(answered))


def _prepare(
    judge: JudgeFile, askers: Mapping[str, Asker], question: Question, by_mark: Mapping[str, Instance]
) -> _Ready:
    instance = _find_instance(question, by_mark)
    if mark_output(instance, judge.salt) != question.output:
        raise InputError(
            f"The texts of a question on “{question.criterion[:60]}” do not match its hash: download the "
            "file again."
        )
    asker = askers[question.judge]
    numbers = {each.text: number for number, each in enumerate(judge.criteria, 1)}
    number = numbers[question.criterion]
    for protocol in (asker.plain, asker.beside(instance)):
        items = protocol.group(
            (0, each) for each in (numbers.values() if protocol.asks_together else (number,))
        )
        item = next(item for item in items if number in item.criteria)
        if hash_questions(protocol.render_calls(item, instance)) == question.request:
            return _Ready(question, protocol, instance, item, number)
    raise InputError(
        f"This version of CoEval words the question on “{question.criterion[:60]}” differently than the "
        "file. Use the version that wrote the file."
    )


def _find_instance(question: Question, by_mark: Mapping[str, Instance]) -> Instance:
    if question.sample is not None:
        sample = question.sample
        return Instance("", sample.input, sample.output, reference=sample.reference, context=sample.context)
    if question.output not in by_mark:
        raise InputError(
            "The file contains only hashes of the questions: give a table of the study's inputs and "
            "outputs with --questions."
        )
    return by_mark[question.output]


async def _ask_again(
    name: str, ready: Sequence[_Ready], repeats: int, asked: Asked
) -> Mapping[tuple[str, int, int], ImportedDraft]:
    """Return the new drafts by request, pass and criterion number. Each item is asked once per pass."""
    items = {(each.question.request, turn): each for each in ready for turn in range(repeats)}
    drafts: dict[tuple[str, int, int], ImportedDraft] = {}
    runner = asked.build_runner()

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
    """Return the old and new scores of a question. A pass without a score counts as unreadable."""
    new: list[float] = []
    turns = (draft for (request, _, number), draft in drafts.items()
             if (request, number) == (each.question.request, each.number))  # fmt: skip
    for draft in turns:
        new += draft.samples or (math.nan if draft.score is None else draft.score,)
    scale = each.protocol.brief.criteria[each.number].scale
    return Answers(each.question.request, each.question.scores, tuple(new), float(scale.high - scale.low))
