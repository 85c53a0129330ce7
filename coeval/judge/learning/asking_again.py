"""The judge asked again with examples in its questions, by its own protocol, ledger and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from coeval.domain import Instance
from coeval.errors import InputError, ModelError
from coeval.judge.answers import summarise_answers
from coeval.judge.examples import with_examples
from coeval.judge.learning.examples import Question, Verdict
from coeval.judge.parts import Example
from coeval.llm.protocols.protocol import Brief, Item, Protocol
from coeval.llm.protocols.registry import build_protocol, get_protocol
from coeval.llm.running.judging import Judged, judge_item
from coeval.llm.running.pool import Outcome, run_all
from coeval.llm.running.progress import Progress
from coeval.llm.running.runner import Runner

REMEDY = "Learn again: what was answered is in the ledger."


class ExampleAsker:
    """A ``JudgeAgain``: asks each question by its criterion alone, with its examples in the criterion's guide.

    Parameters
    ----------
    brief : the task, the criteria and the options that the judge has; criteria are told apart by their text.
    instances : those that questions are about, by external id.
    runner : an open one; it keeps every answer in its ledger.

    Raises
    ------
    InputError
        For a protocol that compares outputs or needs a plan: neither takes examples.
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
                f"The protocol {chosen.name} takes no examples: learn from a run of another one."
            )
        self._brief, self._instances, self._runner = brief, instances, runner
        self._should_stop, self._on_progress = should_stop, on_progress
        self._numbers = {criterion.text: number for number, criterion in brief.criteria.items()}
        self._known: dict[tuple[str, tuple[Example, ...]], Protocol] = {}

    async def __call__(self, questions: Sequence[Question]) -> list[Verdict]:
        """A verdict a question, in their order; NaN where an answer could not be read.

        Raises
        ------
        ModelError
            If the run ended early; what was answered is in the ledger.
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
        """The protocol that asks by this criterion alone, with these examples."""
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
