"""Typed decisions: the probability of each step of the scale, without a word to read.

One request holds an instance and a question for each criterion. A criterion with two steps is a yes/no question, one
with up to ``MOST_LEVELS`` steps a score question, and one with more steps a choice among them. The score is the
expected step. A chat model can explain the decisions in words: all of them, or only the uncertain ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from coeval.domain import (
    Ask,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    Instance,
    Message,
    Request,
    RowKind,
    Rung,
    Scale,
    Task,
    TypedQuestion,
)
from coeval.errors import InputError
from coeval.llm.client.failures import UNREAD, CallError
from coeval.llm.prompting.template_files import load_template, render_criterion, render_sample, task_values
from coeval.llm.protocols.by_criterion import ConclusionScoreEvidence
from coeval.llm.protocols.ladder import ask_all
from coeval.llm.protocols.protocol import (
    Brief,
    Item,
    Items,
    Judgment,
    Protocol,
    Questions,
    group_by_instance,
    register,
)
from coeval.rules.column_roles import ImageError, list_images

MOST_LEVELS, MOST_CHOICES = 10, 255
"""Largest number of levels of a score question, and of options of a choice."""

TOLERANCE = 0.03
"""Largest distance of a sum of probabilities from 1. OpenAI rounds each probability to two decimals."""

UNSURE = 0.5
"""Confidence below which a decision is uncertain."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The probabilities of a scale's steps, lowest first; they add up to 1."""

    scale: Scale
    probabilities: tuple[float, ...]

    @property
    def expected(self) -> float:
        """Return the expected step."""
        return math.fsum(step * p for step, p in zip(self.scale.steps, self.probabilities, strict=True))

    @property
    def confidence(self) -> float:
        """Return 1 if one step has all probability, and 0 if it is as spread as equal probabilities.

        This is 1 - E|step - mode| / mean|step - middle|, as servers compute it, but at least 0.

        >>> round(Distribution(Scale(1, 3), (0.1, 0.1, 0.8)).confidence, 2)
        0.55
        """
        steps = self.scale.steps
        mode = steps[max(range(len(steps)), key=self.probabilities.__getitem__)]
        distance = math.fsum(p * abs(step - mode) for step, p in zip(steps, self.probabilities, strict=True))
        middle = (steps[0] + steps[-1]) / 2
        usual = math.fsum(abs(step - middle) for step in steps) / len(steps)
        return max(0.0, 1 - distance / usual)


def build_question(name: str, criterion: Criterion, task: Task, steps: str = "") -> TypedQuestion:
    """Return the typed question about a criterion, with the id ``name``. ``steps`` are its evaluation steps, if any."""
    scale, anchors = criterion.scale, dict(criterion.guide.anchors)
    guide = criterion.guide
    stated = "\n".join(filter(None, (render_criterion(criterion), guide.definition, guide.examples)))
    further = f"\n\nEvaluation steps:\n{steps}" if steps.strip() else ""
    count = len(scale.steps)
    if count == 2:
        text = f"The {task.output_field} meets this criterion: {stated}{further}"
        meanings = [anchors.get(step, "") for step in scale.steps]
        return TypedQuestion(name, "yes_no", text, (("no", meanings[0]), ("yes", meanings[1])))
    question = criterion.question.strip() or f"How well does the {task.output_field} meet this criterion?"
    ends = {scale.low: "lowest: does not meet it", scale.high: "highest: meets it fully"}
    levels = tuple((str(step), anchors.get(step, ends.get(step, ""))) for step in scale.steps)
    kind = "score" if count <= MOST_LEVELS else "choice"
    return TypedQuestion(name, kind, f"{question}\n{stated}{further}", levels)


def read_decision(text: str, question: TypedQuestion, scale: Scale) -> tuple[Distribution | None, str]:
    """Return the distribution that answers a question, or None and the reason. Never raises.

    ``text`` is the JSON of typed answers, as ``normalise_answers`` writes it. An answer counts only if it has the id,
    the type and the levels of the question, and if its probabilities add up to 1.
    """
    try:
        answer = json.loads(text)[question.id]
        kind = answer["type"]
    except (ValueError, LookupError, TypeError):
        return None, f"no answer has the id {question.id} of the question"
    if kind == "refusal":
        words = " ".join(
            str(value) for name, value in answer.items() if name != "type" and isinstance(value, str)
        )
        return None, f"the model refused to answer{f': {words}' if words else ''}"
    if kind != question.kind:
        return None, f"the answer has the type “{str(kind)[:40]}” and not “{question.kind}”"
    listed = answer.get("probabilities")
    labels = [label for label, _ in question.levels]
    keys = [str(place) for place in range(len(labels))] if kind == "score" else labels
    if not isinstance(listed, dict) or set(listed) != set(keys):
        return None, "the answer does not have a probability for each level"
    values = [listed[key] for key in keys]
    if not all(_is_probability(value) for value in values):
        return None, "the answer contains something other than probabilities"
    total = math.fsum(values)
    if abs(total - 1) > TOLERANCE:
        return None, f"the probabilities add up to {total:.2f} and not to 1"
    return Distribution(scale, tuple(value / total for value in values)), ""


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


class _Explanation(ConclusionScoreEvidence):
    """Asks a chat model for the conclusion and the evidence of a score that is already decided."""

    form = replace(ConclusionScoreEvidence.form, template="explain")
    templates = ("explain",)


@register
class Decision(Protocol):
    """Asks for typed decisions, at endpoints that have them."""

    name = "decision"
    summary = "A probability for each score and no words (for endpoints with typed decisions)"
    answer_tokens = 0
    templates = ("decision",)
    takes_several = True
    explains = True

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief)
        if self.answers != 1 or self.options.logprobs:
            raise InputError(
                "The protocol decision gives one answer with the probability of each score: set samples to 1, and turn "
                "log-probabilities off."
            )
        for criterion in brief.criteria.values():
            if not 2 <= len(criterion.scale.steps) <= MOST_CHOICES:
                raise InputError(
                    f"The scale {criterion.scale} has {len(criterion.scale.steps)} steps; the protocol decision takes "
                    f"2 to {MOST_CHOICES}: use another protocol."
                )

    @property
    def asks_together(self) -> bool:
        return True

    @property
    def used_templates(self) -> tuple[str, ...]:
        return (*self.templates, "explain", "reask") if self.options.explain else self.templates

    def group(self, pairs: Iterable[tuple[int, int]]) -> Items:
        """Return one item per instance, unless the options set a number of criteria above 1."""
        most = self.options.criteria_per_call
        return group_by_instance(pairs, 0 if most == 1 else most)

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        if list_images(self.task, instance):
            raise ImageError("The protocol decision shows the model no images.")
        values = task_values(self.task)
        values["sample"] = render_sample(self.task, instance, reference=self.options.reference)
        state = load_template("decision", self.options.templates).render(values)
        request = Request(self.options.model, (Message("user", state),), questions=self._questions(item))
        return [(request, 0)]

    def _questions(self, item: Item) -> tuple[TypedQuestion, ...]:
        criteria = [self.brief.criteria[number] for number in item.criteria]
        return tuple(
            build_question(f"c{place}", criterion, self.task, self.options.steps.get(criterion.text, ""))
            for place, criterion in enumerate(criteria, 1)
        )

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """Ask all questions in one request, then explain the decisions that the options choose."""
        ((request, sample),) = self.render_calls(item, instance)
        answer = await ask(request, sample)
        drafts = await ask_all(
            self._draft(ask, number, question, answer.text, instance)
            for number, question in zip(item.criteria, request.questions, strict=True)
        )
        return Judgment(dict(zip(item.criteria, drafts, strict=True)))

    async def _draft(
        self, ask: Ask, number: int, question: TypedQuestion, text: str, instance: Instance
    ) -> ImportedDraft:
        criterion = self.brief.criteria[number]
        decided, why = read_decision(text, question, criterion.scale)
        if decided is None:
            reason = f"The model was asked for a decision, and {why}: send it again, or use another model or protocol."
            return ImportedDraft(instance.external_id, criterion.text, None, reason=reason, raw=text)
        score = decided.expected
        draft = ImportedDraft(
            instance=instance.external_id,
            criterion=criterion.text,
            score=score,
            rows=(
                EvaluationRow(RowKind.SCORE, f"Score: {round(score, 2):g} (expected score of a decision)"),
            ),
            reason=f"Expected score of a typed decision; confidence {decided.confidence:.0%}.",
            raw=text,
            probabilities=decided.probabilities,
            rung=Rung.DECISION,
        )
        wanted = self.options.explain == "all" or self.options.explain and decided.confidence < UNSURE
        return await self._explain(ask, number, draft, instance) if wanted else draft

    async def _explain(
        self, ask: Ask, number: int, draft: ImportedDraft, instance: Instance
    ) -> ImportedDraft:
        """Return the draft with a conclusion and evidence, or with a reason if they cannot be read."""
        criterion = self.brief.criteria[number]
        score = draft.score
        assert score is not None
        step = min(criterion.scale.steps, key=lambda step: abs(step - score))
        options = replace(
            self.options, protocol="coeval", model=self.options.explain_model or self.options.model,
            criteria_per_call=1, explain="",
        )  # fmt: skip
        asked = {number: replace(criterion, scale=Scale(step, step))}
        explanation = _Explanation(Brief(self.task, asked, options))
        try:
            judgment = await explanation.judge(ask, Item(instance.id, (number,)), instance)
        except CallError as error:
            if error.kind not in UNREAD:
                raise
            return replace(draft, reason=f"{draft.reason} No explanation: {error}")
        words = judgment.drafts[number]
        if words.score is None:
            return replace(
                draft, reason=f"{draft.reason} No explanation: {words.reason}", raw=_join(draft, words)
            )
        conclusion, evidence = (
            tuple(row for row in words.rows if row.kind is kind)
            for kind in (RowKind.CONCLUSION, RowKind.EVIDENCE)
        )
        return replace(draft, rows=(*conclusion, *draft.rows, *evidence), raw=_join(draft, words))


def _join(draft: ImportedDraft, words: ImportedDraft) -> str:
    return f"{draft.raw}\n\n--- explanation ---\n\n{words.raw}"
