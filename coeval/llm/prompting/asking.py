"""Putting questions to a model: requests from templates, and one more try where an answer cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from coeval.domain import Answer, Ask, Message, Request
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.prompting.template_files import load_template
from coeval.rules.columns.images import Image

T = TypeVar("T")

LONG = 10_000
"""Characters from which an answer is read in a thread."""

ASKED_AGAIN = "\n\n--- asked again ---\n\n"
"""Stands between the first answer and the second in a draft's raw text."""


def render_request(
    name: str,
    values: Mapping[str, object],
    options: JudgeOptions,
    *,
    schema: Mapping[str, object] | None = None,
    logprobs: bool = False,
    images: Sequence[Image] = (),
) -> Request:
    """The request of a template: the persona as the system's message where there is one, the rest as the user's.

    ``images`` go with the user's message.
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
    """The same conversation with the answer in it and what was wrong with it: a new request, with its own hash."""
    words = load_template("reask", folder).render({"problem": problem.rstrip("."), "remedy": remedy})
    return replace(
        request, messages=(*request.messages, Message("assistant", answer), Message("user", words))
    )


def render_reask_some(
    request: Request, answer: str, problems: Mapping[int, str], folder: Path | None
) -> Request:
    """The same conversation, asked again for those criteria only that have a problem, by their places from 0."""
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
    """The answer, or, where ``problem_of`` gives a (problem, remedy) for it, that one and one more.

    Raises:
        ModelError: no answer could be had.
    """
    first = await ask(request, sample)
    problem, remedy = await read_aside(problem_of, first)
    if not problem:
        return (first,)
    again = render_reask(request, first.text, problem, remedy, folder)
    return first, await ask(again, sample)


async def read_aside(read: Callable[[Answer], T], answer: Answer) -> T:
    """Read an answer; a long one in a thread, so that nobody who shares the event loop waits for it."""
    return await asyncio.to_thread(read, answer) if len(answer.text) > LONG else read(answer)


async def ask_all(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Every result, in order. One that fails lets the others end first: what was paid for is not thrown away.

    Raises:
        ModelError: the first failure.
    """
    results = await asyncio.gather(*questions, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
