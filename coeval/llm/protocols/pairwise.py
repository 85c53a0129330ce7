"""Compare two outputs of one document on a criterion, in both orders.

An item is one instance and one criterion. The instance is shown first and compared with every other output of its
document, so that over all instances both orders occur.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from coeval.domain import Answer, Ask, Comparison, Criterion, Instance, Request
from coeval.errors import InputError
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.prompting.questions import ask_all, ask_twice, render_request
from coeval.llm.prompting.template_values import list_shared_images, render_guided, render_pair, task_values
from coeval.llm.protocols.protocol import Brief, Item, Judgment, Protocol, Questions, register
from coeval.llm.protocols.verdicts import given_words, is_whole, join_answers, unread_problem
from coeval.llm.reading.preferences import parse_preference


@register
class Pairwise(Protocol):
    """Compares outputs. It makes no drafts, so annotators never see its results."""

    name = "pairwise"
    summary = "Two outputs of one document side by side, in both orders"
    answer_tokens = 60
    templates = ("pairwise",)
    compares = True

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        if self.options.logprobs:
            raise InputError("The protocol pairwise gives no expected score: turn log-probabilities off.")

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
        values = task_values(self.task) | {"criterion": render_guided(criterion)}
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
        given = "\n\n".join([given_words(request, first), second.output, first.input])

        def read(answer: Answer) -> tuple[float | None, str]:
            return parse_preference(answer.text, given=given, whole=is_whole(answer))

        def problem_of(answer: Answer) -> tuple[str, str]:
            _, why = read(answer)
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
            return *read(answers[-1]), join_answers(answers)

        said = await ask_all(ask_once(sample) for sample in range(self.answers))
        return _combine(first.id, second.id, number, said)


def _combine(
    first: int, second: int, criterion: int, said: list[tuple[float | None, str, str]]
) -> Comparison:
    """Return the mean of the readable answers."""
    read = tuple(preference for preference, _, _ in said if preference is not None)
    raw = "\n\n".join(raw for _, _, raw in said)
    if not read:
        return Comparison(first, second, criterion, None, f"The model was asked and {said[0][1]}.", raw)
    lost = len(said) - len(read)
    reason = f"{lost} of {len(said)} answers could not be read and are left out." if lost else ""
    samples = read if len(said) > 1 else ()
    return Comparison(first, second, criterion, math.fsum(read) / len(read), reason, raw, samples)
