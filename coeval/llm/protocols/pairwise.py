"""Two outputs of one document side by side: which is better by a criterion. Each pair is asked about in both orders.

One item is an instance shown first, by one criterion; it is compared with every other output of its document, so that
over all instances both orders come up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from coeval.domain import Answer, Ask, Comparison, Criterion, Instance, Request
from coeval.errors import InputError
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.prompting.asking import ask_all, ask_twice, render_request
from coeval.llm.prompting.fencing import list_shared_images, render_pair
from coeval.llm.prompting.values import render_criterion, task_values
from coeval.llm.protocols.protocol import Brief, Item, Judgment, Protocol, Questions
from coeval.llm.protocols.registry import register
from coeval.llm.protocols.verdicts import join_answers, unread_problem
from coeval.llm.reading.rating.preferred import parse_preference


@register
class Pairwise(Protocol):
    """It makes comparisons and no drafts: annotators are shown none of it."""

    name = "pairwise"
    summary = "Two outputs of one document side by side, in both orders"
    answer_tokens = 60
    templates = ("pairwise",)
    compares = True

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        if self.options.logprobs:
            raise InputError("pairwise gives no expected score: leave log-probabilities off.")

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        return [
            (self._render(self.brief.criteria[number], instance, rival), sample)
            for number, rival in self._pairs(item, instance)
            for sample in range(self.answers)
        ]

    def _pairs(self, item: Item, instance: Instance) -> Iterator[tuple[int, Instance]]:
        rivals = self.brief.rivals(instance)
        return ((number, rival) for number in item.criteria for rival in rivals)

    def _render(self, criterion: Criterion, first: Instance, second: Instance) -> Request:
        steps = self.options.steps.get(criterion.text, "").strip()
        values = task_values(self.task) | {"criterion": render_criterion(criterion)}
        values["pair"] = render_pair(self.task, first, second, reference=self.options.reference)
        values["steps"] = f"## Evaluation steps\n{steps}" if steps else ""
        images = list_shared_images(self.task, first, second)
        return render_request("pairwise", values, self.options, images=images)

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        pairs = self._pairs(item, instance)
        compared = await ask_all(self._compare(ask, number, instance, rival) for number, rival in pairs)
        return Judgment({}, comparisons=tuple(compared))

    async def _compare(self, ask: Ask, number: int, first: Instance, second: Instance) -> Comparison:
        request = self._render(self.brief.criteria[number], first, second)
        texts = (first.output, second.output, first.input)

        def problem_of(answer: Answer) -> tuple[str, str]:
            _, why = parse_preference(answer.text, samples=texts)
            return (
                (unread_problem(why, answer), "End with “Preference:” and A, B or tie.") if why else ("", "")
            )

        async def ask_once(sample: int) -> tuple[float | None, str, str]:
            try:
                answers = await ask_twice(ask, request, sample, problem_of, self.options.templates)
            except CallError as error:
                if error.kind not in UNREAD:
                    raise
                return None, str(error), error.received
            return *parse_preference(answers[-1].text, samples=texts), join_answers(answers)

        said = await ask_all(ask_once(sample) for sample in range(self.answers))
        return _combine(first.id, second.id, number, said)


def _combine(
    first: int, second: int, criterion: int, said: list[tuple[float | None, str, str]]
) -> Comparison:
    """The mean of the answers that could be read."""
    read = tuple(preference for preference, _, _ in said if preference is not None)
    raw = "\n\n".join(raw for _, _, raw in said)
    if not read:
        return Comparison(first, second, criterion, None, f"The model was asked and {said[0][1]}.", raw)
    lost = len(said) - len(read)
    reason = f"{lost} of {len(said)} answers could not be read and are left out." if lost else ""
    samples = read if len(said) > 1 else ()
    return Comparison(first, second, criterion, math.fsum(read) / len(read), reason, raw, samples)
