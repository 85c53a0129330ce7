"""How a judgment is made: one instance by one criterion, under one of the protocols, as one draft.

Protocols follow "A Closer Look into Automatic Evaluation Using Large Language Models" (score-only, free-text,
rate-explain, analyze-rate, auto-CoT, 20 samples) and CoEval itself (conclusion, score, evidence).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from coeval.domain import Answer, Ask, Criterion, ImportedDraft, Instance, Request, Scale, Task
from coeval.errors import InputError
from coeval.llm.prompting.options import COEVAL, FUSION, JudgeOptions, answer_schema
from coeval.llm.prompting.prompts import (
    load_template,
    render_criterion,
    render_sample,
    scale_values,
    task_values,
)
from coeval.llm.protocols.asking import ask_all, ask_twice, render_request
from coeval.llm.protocols.verdicts import (
    Verdict,
    combine_verdicts,
    join_answers,
    unread_problem,
    unscored_reason,
)
from coeval.llm.reading.evaluations import ParsedEvaluation, parse_evaluation, parse_rationale
from coeval.llm.reading.logprobs import expected_score

Read = Callable[[str], ParsedEvaluation]

NO_LOGPROBS = (
    "the expected score was asked for, but the endpoint gave no log-probabilities for a single token of the "
    "score: run it again without log-probabilities, or on an endpoint that gives them"
)


def render_calls(
    task: Task, criterion: Criterion, instance: Instance, options: JudgeOptions
) -> list[tuple[Request, int]]:
    """Every first question of a judgment, with its sample number: what a run or a batch file will send.

    Raises:
        InputError: a template is missing or broken, or the protocol judges all criteria at once.
    """
    if options.protocol == FUSION:
        raise InputError(
            "The fusion protocol judges all criteria in one call: use coeval.llm.protocols.fusion."
        )
    forms = [options.form_of(number) for number in range(options.answers)]
    requests = {form: _render(form, task, criterion, instance, options) for form in dict.fromkeys(forms)}
    return [(requests[form], sample) for sample, form in enumerate(forms)]


def _render(
    form: str, task: Task, criterion: Criterion, instance: Instance, options: JudgeOptions
) -> Request:
    steps = options.steps.get(criterion.text, "").strip()
    values = task_values(task) | scale_values(criterion.scale)
    values |= {"criterion": render_criterion(criterion), "sample": render_sample(task, instance)}
    values["steps"] = f"## Evaluation steps\n{steps}" if steps else ""
    values["case"] = load_template("case", options.templates).render(values)
    schema = answer_schema(criterion.scale) if form == COEVAL else None
    return render_request(form, values, options, schema=schema, logprobs=options.logprobs)


async def judge(
    ask: Ask, task: Task, criterion: Criterion, instance: Instance, options: JudgeOptions
) -> ImportedDraft:
    """The model's draft for one instance by one criterion; its score is None where no answer could be read.

    An unreadable answer is asked for once more, in the same conversation. All samples are under way at once;
    ``ask`` bounds how many really are.

    Raises:
        ModelError: an answer could not be had.
        InputError: a template is missing or broken.
    """
    questions = [
        _judge_once(ask, request, sample, criterion, instance, options)
        for request, sample in render_calls(task, criterion, instance, options)
    ]
    return combine_verdicts(await ask_all(questions), criterion, instance)


async def _judge_once(
    ask: Ask, request: Request, sample: int, criterion: Criterion, instance: Instance, options: JudgeOptions
) -> Verdict:
    read = reader_of(options.form_of(sample), criterion, instance)

    def problem_of(answer: Answer) -> tuple[str, str]:
        parsed = read(answer.text)
        remedy = f"The score must be one whole number from {criterion.scale.low} to {criterion.scale.high}."
        return (unread_problem(parsed.reason, answer), remedy) if parsed.score is None else ("", "")

    answers = await ask_twice(ask, request, sample, problem_of, options.templates)
    return read_verdict(answers, read, criterion.scale, logprobs=options.logprobs)


def reader_of(form: str, criterion: Criterion, instance: Instance) -> Read:
    """The parser of a protocol's answers: never raises, and knows the sample, whose words are no verdict.

    It remembers the last few answers, so that one is read once however often it is looked at.
    """
    parse = parse_evaluation if form == COEVAL else parse_rationale
    scale = (criterion.scale.low, criterion.scale.high)
    read = partial(parse, scale=scale, criterion=render_criterion(criterion), sample=instance.output)
    return lru_cache(maxsize=4)(read)


def read_verdict(answers: tuple[Answer, ...], read: Read, scale: Scale, *, logprobs: bool = False) -> Verdict:
    """What the last of the answers says. Asked-for log-probabilities are never replaced by the plain score."""
    answer, raw = answers[-1], join_answers(answers)
    parsed = read(answer.text)
    if parsed.score is None:
        problem = unscored_reason(unread_problem(parsed.reason, answer), answers)
        return Verdict(parsed, raw, problem=problem)
    if not logprobs:
        return Verdict(parsed, raw, parsed.score)
    expected = expected_score(answer.logprobs, scale, lambda text: read(text).score)
    if expected is None:
        return Verdict(parsed, raw, problem=f"The model answered {parsed.score:g}, but {NO_LOGPROBS}.")
    note = f"Expected score from log-probabilities; {expected.mass:.0%} of the probability is on the scale."
    return Verdict(parsed, raw, expected.score, note=note)
