"""Build requests from templates, and JSON schemas for their answers; repeat a question once if needed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from coeval.domain import Answer, Ask, Message, Request, Scale
from coeval.errors import UnansweredError
from coeval.llm.prompting.template_files import JudgeOptions, load_template
from coeval.rules.column_roles import Image


def evaluation_schema(scale: Scale) -> dict[str, object]:
    """Return the schema of an evaluation: a conclusion, a score on the scale, and evidence with remarks."""
    return build_object(_evaluation(scale.steps))


def evaluations_schema(scales: Sequence[Scale]) -> dict[str, object]:
    """Return the schema of a list of evaluations, each with the number of its criterion, from 1, and a score."""
    steps = sorted({step for scale in scales for step in scale.steps})
    number = {"type": "integer", "enum": list(range(1, len(scales) + 1))}
    each = build_object({"criterion": number} | _evaluation(steps))
    return build_object({"evaluations": {"type": "array", "items": each}})


def _evaluation(steps: Sequence[int]) -> dict[str, object]:
    passage = build_object({"quote": {"type": "string"}, "remark": {"type": "string"}})
    return {
        "conclusion": {"type": "string"},
        "score": {"type": "integer", "enum": list(steps)},
        "evidence": {"type": "array", "items": passage},
    }


CRITERIA_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"criteria": {"type": "array", "items": {"type": "string"}}},
    "required": ["criteria"],
    "additionalProperties": False,
}
"""The schema of a list of criteria."""


def build_object(properties: dict[str, object]) -> dict[str, object]:
    """Return the schema of an object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


T = TypeVar("T")

LONG = 10_000
"""Number of characters from which an answer is parsed in a thread."""

ASKED_AGAIN = "\n\n--- asked again ---\n\n"
"""The line between the first and the second answer in a draft's raw text."""


def render_request(
    name: str,
    values: Mapping[str, object],
    options: JudgeOptions,
    *,
    schema: Mapping[str, object] | None = None,
    logprobs: bool = False,
    images: Sequence[Image] = (),
) -> Request:
    """Return a request: the persona, if any, as the system message, and the rendered template as the user's.

    The user's message also carries ``images``.
    """
    persona = f"persona-{options.persona}" if options.persona else ""
    system = (Message("system", load_template(persona, options.templates).render({})),) if persona else ()
    user = Message(
        "user", load_template(name, options.templates).render(values), tuple(i.source for i in images)
    )
    return Request(
        model=options.model,
        messages=(*system, user),
        schema=schema,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        logprobs=logprobs,
        top_p=options.top_p,
        reasoning_effort=options.reasoning_effort,
    )


def render_reask(request: Request, answer: str, problem: str, remedy: str, folder: Path | None) -> Request:
    """Return the same conversation plus the answer and its problem, as a new request with its own hash."""
    words = load_template("reask", folder).render({"problem": problem.rstrip("."), "remedy": remedy})
    return replace(
        request, messages=(*request.messages, Message("assistant", answer), Message("user", words))
    )


def render_reask_some(
    request: Request, answer: str, problems: Mapping[int, str], folder: Path | None
) -> Request:
    """Return the same conversation, which asks again only for the criteria with a problem (positions from 0)."""
    numbers = [f"[{place + 1}]" for place in problems]
    said = "; ".join(
        f"{number} {problem}" for number, problem in zip(numbers, problems.values(), strict=True)
    )
    values = {"problem": said.rstrip("."), "missing": ", ".join(numbers)}
    words = load_template("reask-some", folder).render(values)
    return replace(
        request, messages=(*request.messages, Message("assistant", answer), Message("user", words))
    )


async def ask_twice(
    ask: Ask,
    request: Request,
    sample: int,
    problem_of: Callable[[Answer], tuple[str, str]],
    folder: Path | None,
) -> tuple[Answer, ...]:
    """Return the answer. If ``problem_of`` finds a (problem, remedy) in it, ask again and return both answers.

    A replay returns the first answer alone if the ledger has no second one.

    Raises:
        ModelError: a request failed.
    """
    first = await ask(request, sample)
    problem, remedy = await read_aside(problem_of, first)
    if not problem:
        return (first,)
    return await ask_again(ask, render_reask(request, first.text, problem, remedy, folder), sample, first)


async def ask_again(ask: Ask, again: Request, sample: int, first: Answer) -> tuple[Answer, ...]:
    """Return the first answer and the answer to ``again``, or in a replay without that answer the first alone."""
    try:
        return first, await ask(again, sample)
    except UnansweredError:
        return (first,)


async def read_aside(read: Callable[[Answer], T], answer: Answer) -> T:
    """Parse an answer. Long answers are parsed in a thread, so that they do not block the event loop."""
    return await asyncio.to_thread(read, answer) if len(answer.text) > LONG else read(answer)


async def ask_all(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results in order. If one fails, the others finish first, because they are paid for.

    Raises:
        ModelError: the first failure.
    """
    results = await asyncio.gather(*questions, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
