"""Compare two outputs of one document on a criterion, in both orders.

An item is one instance and one criterion. The instance is shown first and compared with every other output of its
document, so that over all instances both orders occur.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from coeval.domain import Answer, Ask, Comparison, Criterion, Instance, Request, Rung, lowest_rung
from coeval.errors import InputError
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.prompting.questions import (
    MAX_WORDS,
    build_object,
    build_text,
    render_again,
    render_request,
)
from coeval.llm.prompting.template_files import list_shared_images, render_guided, render_pair, task_values
from coeval.llm.protocols.by_criterion import given_words
from coeval.llm.protocols.ladder import (
    ask_all,
    ask_in_form,
    is_whole,
    join_answers,
    readable_text,
    rung_of,
    unread_problem,
    unread_reason,
)
from coeval.llm.protocols.protocol import Brief, Item, Judgment, Protocol, Questions, register
from coeval.llm.reading.answer_text import find_json
from coeval.llm.reading.scores import read_preference

CHOICE = {"type": "string", "enum": ["A", "B", "tie"]}
SCHEMA = build_object({"analysis": build_text(MAX_WORDS), "preference": CHOICE})
AGAIN = build_object({"preference": CHOICE})


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
        return render_request("pairwise", values, self.options, schema=SCHEMA, images=images)

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        pairs = self._pairs(item, instance)
        compared = await ask_all(self._compare(ask, number, instance, rival) for number, rival in pairs)
        return Judgment({}, comparisons=tuple(compared))

    async def _compare(self, ask: Ask, number: int, first: Instance, second: Instance) -> Comparison:
        request = self._render(self.brief.criteria[number], first, second)
        shown = "\n\n".join([given_words(request, first), second.output, first.input])

        def read(answer: Answer, given: str) -> tuple[float | None, str]:
            return read_preference(readable_text(answer), given=given, whole=is_whole(answer))

        def again(answer: Answer) -> Request | None:
            _, why = read(answer, shown)
            if not why:
                return None
            problem = unread_problem(why, answer)
            form = "Preference: <one of the three: A, B, tie>"
            return render_again(request, answer.text, problem, form, AGAIN, self.options.templates)

        async def ask_once(sample: int) -> Said:
            try:
                answers = await ask_in_form(ask, request, sample, again)
            except CallError as error:
                if error.kind not in UNREAD:
                    raise
                return None, str(error), error.received, ""
            choice, why = read(answers[-1], shown if len(answers) == 1 else "")
            reason = unread_reason(unread_problem(why, answers[-1]), answers) if why else ""
            form = "JSON" if find_json(answers[0].text) else "label"
            rung = Rung.AGAIN if len(answers) > 1 else rung_of(answers[0], form)
            return choice, reason, join_answers(answers), "" if why else rung

        said = await ask_all(ask_once(sample) for sample in range(self.answers))
        return _combine(first.id, second.id, number, said)


Said = tuple[float | None, str, str, str]
"""A preference, or None and the reason; the raw text; and the rung."""


def _combine(first: int, second: int, criterion: int, said: list[Said]) -> Comparison:
    """Return the mean of the readable answers, and the lowest of their rungs."""
    read = tuple(preference for preference, *_ in said if preference is not None)
    raw = "\n\n".join(raw for _, _, raw, _ in said)
    if not read:
        return Comparison(first, second, criterion, None, said[0][1], raw)
    lost = len(said) - len(read)
    reason = f"{lost} of {len(said)} answers could not be read and are left out." if lost else ""
    samples = read if len(said) > 1 else ()
    rung = lowest_rung(rung for *_, rung in said)
    return Comparison(first, second, criterion, math.fsum(read) / len(read), reason, raw, samples, rung=rung)
