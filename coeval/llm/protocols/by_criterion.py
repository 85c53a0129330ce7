"""Protocols that judge one instance on one or several criteria, and the draft that is made of their answers.

They follow "A Closer Look into Automatic Evaluation Using Large Language Models" (Chiang and Lee 2023: score-only,
free-text, rate-explain, analyze-rate) and CoEval itself (conclusion, score, evidence).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from coeval.domain import (
    Ask,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    Instance,
    Request,
    RowKind,
    Rung,
    Scale,
    lowest_rung,
)
from coeval.llm.prompting.questions import evaluation_schema, evaluations_schema, render_request
from coeval.llm.prompting.template_files import JudgeOptions, render_case, render_cases, render_criterion
from coeval.llm.protocols.ladder import ScoreQuestion, Verdict, ask_all
from coeval.llm.protocols.protocol import (
    Item,
    Items,
    Judgment,
    Protocol,
    Questions,
    group_by_instance,
    register,
)
from coeval.llm.reading.evaluations import read_evaluation, read_evaluations
from coeval.llm.reading.quotes import find_quotes
from coeval.llm.reading.scores import ParsedEvaluation
from coeval.rules.column_roles import list_images


def given_words(request: Request, instance: Instance) -> str:
    """Return all words that were sent to the model. If an answer repeats them, they are not a verdict."""
    return "\n\n".join([*(message.content for message in request.messages), instance.output])


async def judge_together(
    ask: Ask,
    calls: Sequence[tuple[Request, int]],
    criteria: Mapping[str, Criterion],
    instance: Instance,
    options: JudgeOptions,
) -> list[ImportedDraft]:
    """Return a draft per criterion from questions that each ask about all of them.

    The keys of ``criteria`` are their numbers in the question. Only scores that are not in the form are asked for once
    more.

    Raises:
        ModelError: a request failed.
    """
    judged = list(criteria.values())
    names = [render_criterion(criterion) for criterion in judged]
    scales = [(criterion.scale.low, criterion.scale.high) for criterion in judged]

    def read(text: str, given: str, whole: bool) -> Sequence[ParsedEvaluation]:
        return read_evaluations(text, names, scales, given=given, whole=whole)

    question = ScoreQuestion([f"[{number}] Score" for number in criteria], judged, read, options)
    samples = await ask_all(
        question.ask(ask, request, sample, given_words(request, instance)) for request, sample in calls
    )
    return [
        combine_verdicts([verdicts[place] for verdicts in samples], criterion, instance)
        for place, criterion in enumerate(judged)
    ]


def combine_verdicts(verdicts: Sequence[Verdict], criterion: Criterion, instance: Instance) -> ImportedDraft:
    """Return one draft from all answers: the mean of the readable scores, and the rows of the answer closest to it.

    Its rung is the lowest of these scores. Scores from asking again count only if there are no others. All answers that
    do not count are left out of the mean and counted in the reason. If no answer can be read, the draft has no score
    and no rows, but keeps all raw text.
    """
    scored = [verdict for verdict in verdicts if verdict.score is not None]
    read = [verdict for verdict in scored if verdict.rung is not Rung.AGAIN] or scored
    if not read:
        reason = verdicts[0].problem if verdicts else "The model was not asked."
        raw = "\n\n".join(verdict.raw for verdict in verdicts)
        return ImportedDraft(instance.external_id, criterion.text, None, reason=reason, raw=raw)
    scores = tuple(verdict.score for verdict in read if verdict.score is not None)
    mean = math.fsum(scores) / len(scores)
    nearest = min(zip(scores, read, strict=True), key=lambda pair: abs(pair[0] - mean))[1]
    notes = [nearest.note] if nearest.note else []
    if len(read) < len(verdicts):
        notes.append(
            f"{len(verdicts) - len(read)} of {len(verdicts)} answers were not in the form and are left out."
        )
    return ImportedDraft(
        instance=instance.external_id,
        criterion=criterion.text,
        score=mean,
        rows=_rows(nearest, scores, mean, instance, asked=len(verdicts)),
        reason=" ".join(notes),
        raw=nearest.raw,
        samples=scores if len(verdicts) > 1 else (),
        probabilities=_mean_probabilities(read),
        rung=lowest_rung(verdict.rung or "" for verdict in read),
    )


def _mean_probabilities(verdicts: Sequence[Verdict]) -> tuple[float, ...]:
    """Return the mean probability of each step over the answers that have probabilities."""
    samples = [verdict.probabilities for verdict in verdicts if verdict.probabilities]
    return tuple(math.fsum(step) / len(samples) for step in zip(*samples, strict=True))


def _rows(
    verdict: Verdict, scores: Sequence[float], mean: float, instance: Instance, *, asked: int
) -> tuple[EvaluationRow, ...]:
    """Return the rows (conclusion if any, score, evidence) with their located quotations."""
    parsed = verdict.evaluation
    lines = [(RowKind.CONCLUSION, parsed.conclusion)] if parsed.conclusion else []
    lines.append((RowKind.SCORE, _score_line(verdict, scores, mean, asked)))
    lines += [(RowKind.EVIDENCE, line) for line in parsed.evidence]
    return tuple(
        EvaluationRow(kind, text, find_quotes(text, instance.output, instance.input)) for kind, text in lines
    )


def _score_line(verdict: Verdict, scores: Sequence[float], mean: float, asked: int) -> str:
    """Return the text of the score row: the score, the number of averaged answers, and the kind of score."""
    details = []
    if len(scores) < asked:
        details.append(f"from {len(scores)} of {asked} samples")
    if len(scores) > 1:
        details.append(f"mean of {len(scores)} answers, standard deviation {statistics.stdev(scores):.2f}")
    if verdict.note:
        details.append("expected score from log-probabilities")
    return f"Score: {round(mean, 2):g}" + (f" ({'; '.join(details)})" if details else "")


# Protocols that judge one instance on one criterion at a time. A subclass names its form.


@dataclass(frozen=True, slots=True)
class Form:
    """One form of the question: its template, and the JSON schema of its answers.

    Without a schema, the template asks for text that ends in a line such as "Score: 4" or "Rating: 4".
    """

    template: str
    schema: Callable[[Scale], dict[str, object]] | None = None


class ByCriterion(Protocol):
    """Judges one instance on one criterion at a time. A subclass names its form."""

    form: ClassVar[Form]

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        (criterion,) = (self.brief.criteria[number] for number in item.criteria)
        values = render_case(self.task, criterion, instance, self.options)
        request = render_request(
            self.form.template,
            values,
            self.options,
            schema=self.form.schema(criterion.scale) if self.form.schema else None,
            logprobs=self.options.logprobs,
            images=list_images(self.task, instance),
        )
        return [(request, sample) for sample in range(self.answers)]

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """Request all samples at once. One that is not in the form is asked for once more."""
        (number,) = item.criteria
        criterion = self.brief.criteria[number]
        name, scale = render_criterion(criterion), (criterion.scale.low, criterion.scale.high)

        def read(text: str, given: str, whole: bool) -> list[ParsedEvaluation]:
            return [read_evaluation(text, scale, name, given=given, whole=whole)]

        question = ScoreQuestion(["Score"], [criterion], read, self.options)

        async def ask_once(request: Request, sample: int) -> Verdict:
            (verdict,) = await question.ask(ask, request, sample, given_words(request, instance))
            return verdict

        verdicts = await ask_all(ask_once(*call) for call in self.render_calls(item, instance))
        return Judgment({number: combine_verdicts(verdicts, criterion, instance)})


# CoEval's own protocol: a conclusion, a score and evidence, also for several criteria in one question.


class Several(ByCriterion):
    """Asks about one or several criteria in one question, as the options say. A subclass names both forms."""

    takes_several = True
    several_template: ClassVar[str]
    """The template of a question about several criteria; ``cases`` holds the common variables."""

    @property
    def used_templates(self) -> tuple[str, ...]:
        if self.options.criteria_per_call == 1:
            return super().used_templates
        return ("cases", self.several_template, "reask")

    def group(self, pairs: Iterable[tuple[int, int]]) -> Items:
        most = self.options.criteria_per_call
        return super().group(pairs) if most == 1 else group_by_instance(pairs, most)

    def answer_length(self, item: Item) -> float:
        return self.answer_tokens * len(item.criteria)

    def render_calls(self, item: Item, instance: Instance) -> Questions:
        if self.options.criteria_per_call == 1:
            return super().render_calls(item, instance)
        criteria = [self.brief.criteria[number] for number in item.criteria]
        request = render_request(
            self.several_template,
            render_cases(self.task, criteria, instance, self.options),
            self.options,
            schema=evaluations_schema([criterion.scale for criterion in criteria]),
            logprobs=self.options.logprobs,
            images=list_images(self.task, instance),
        )
        return [(request, sample) for sample in range(self.answers)]

    async def judge(self, ask: Ask, item: Item, instance: Instance) -> Judgment:
        """Request all samples at once. Only the scores that are not in the form are asked for once more."""
        if self.options.criteria_per_call == 1:
            return await super().judge(ask, item, instance)
        criteria = {str(place): self.brief.criteria[number] for place, number in enumerate(item.criteria, 1)}
        calls = self.render_calls(item, instance)
        drafts = await judge_together(ask, calls, criteria, instance, self.options)
        return Judgment(dict(zip(item.criteria, drafts, strict=True)))


@register
class ConclusionScoreEvidence(Several):
    """Makes the drafts that people review line by line."""

    name = "coeval"
    summary = "A conclusion, a score, and evidence quoted from the output"
    answer_tokens = 220
    form = Form("coeval", evaluation_schema)
    templates: ClassVar[tuple[str, ...]] = ("case", "coeval")
    several_template = "coeval-several"


# The four forms of question in Chiang and Lee (2023).


@register
class ScoreOnly(ByCriterion):
    """Asks for the score only: the cheapest question, with the lowest agreement with people."""

    name = "score-only"
    summary = "The score alone"
    answer_tokens = 6
    form = Form("score-only")
    templates = ("case", "score-only")


@register
class FreeText(ByCriterion):
    """Lets the model answer freely."""

    name = "free-text"
    summary = "An open question that ends in the scale"
    answer_tokens = 60
    form = Form("free-text")
    templates = ("case", "free-text")


@register
class RateExplain(ByCriterion):
    """Asks for the rating before the reasons."""

    name = "rate-explain"
    summary = "The rating, then its explanation"
    answer_tokens = 80
    form = Form("rate-explain")
    templates = ("case", "rate-explain")


@register
class AnalyzeRate(ByCriterion):
    """Asks for the reasons before the rating."""

    name = "analyze-rate"
    summary = "An analysis, then the rating"
    answer_tokens = 100
    form = Form("analyze-rate")
    templates = ("case", "analyze-rate")
