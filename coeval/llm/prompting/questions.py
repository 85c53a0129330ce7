"""Build requests from templates, second questions, bounded JSON schemas for the answers, and worked examples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from coeval.domain import MAX_TEXT, Criterion, Message, Request, Scale, Task
from coeval.llm.prompting.template_files import JudgeOptions, load_template, neutralise
from coeval.rules.column_roles import Image

# Every text and every list of a schema is bounded: without bounds a small model writes until its tokens are used up.

MAX_WORDS, MAX_QUOTE, MAX_PASSAGES = 1000, 500, 5
"""Longest conclusion and quotation in characters, and largest number of quotations, that a schema allows."""


def evaluation_schema(scale: Scale) -> dict[str, object]:
    """Return the schema of an evaluation: a conclusion, a score on the scale, and evidence with remarks."""
    return build_object(_evaluation(scale.steps))


def evaluations_schema(scales: Sequence[Scale]) -> dict[str, object]:
    """Return the schema of a list of evaluations, each with the number of its criterion, from 1, and a score."""
    steps = sorted({step for scale in scales for step in scale.steps})
    number = {"type": "integer", "enum": list(range(1, len(scales) + 1))}
    each = build_object({"criterion": number} | _evaluation(steps))
    return build_object({"evaluations": build_list(each, len(scales))})


def scores_schema(scales: Mapping[str, Scale]) -> dict[str, object]:
    """Return the schema of the second question: one score for each name, such as "score" or "[2]"."""
    return build_object({name: level_schema(scale.steps) for name, scale in scales.items()})


def _evaluation(steps: Sequence[int]) -> dict[str, object]:
    passage = build_object({"quote": build_text(MAX_QUOTE), "remark": build_text(MAX_QUOTE)})
    return {
        "conclusion": build_text(MAX_WORDS),
        "score": level_schema(steps),
        "evidence": build_list(passage, MAX_PASSAGES),
    }


def level_schema(steps: Sequence[int]) -> dict[str, object]:
    """Return the schema of a score. No level is the beginning of another one.

    A model that writes "1" for the lowest level could otherwise be led on to "10": the grammar allows the "0".

    >>> level_schema(range(1, 6))["enum"], level_schema([1, 10])["enum"]
    ([1, 2, 3, 4, 5], ['01', '10'])
    """
    width = max(len(str(step)) for step in steps)
    if all(len(str(step)) == width for step in steps):
        return {"type": "integer", "enum": list(steps)}
    return {"type": "string", "enum": [f"{step:0{width}d}" for step in steps]}


def build_text(most: int) -> dict[str, object]:
    """Return the schema of a text with at most this number of characters."""
    return {"type": "string", "maxLength": most}


def build_list(items: Mapping[str, object], most: int) -> dict[str, object]:
    """Return the schema of a list with at most this number of items."""
    return {"type": "array", "items": items, "maxItems": most}


def list_schema(name: str, most: int, length: int = MAX_QUOTE) -> dict[str, object]:
    """Return the schema of an object with one list of texts."""
    return build_object({name: build_list(build_text(length), most)})


def build_object(properties: dict[str, object]) -> dict[str, object]:
    """Return the schema of an object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def render_request(
    name: str,
    values: Mapping[str, object],
    options: JudgeOptions,
    *,
    schema: Mapping[str, object] | None = None,
    logprobs: bool = False,
    images: Sequence[Image] = (),
) -> Request:
    """Return a request: one message with the persona, if any, the rendered template, and ``images``."""
    names = (*([f"persona-{options.persona}"] if options.persona else []), name)
    text = "\n\n".join(load_template(part, options.templates).render(values) for part in names)
    return Request(
        model=options.model,
        messages=(Message("user", text, tuple(image.source for image in images)),),
        schema=schema,
        logprobs=logprobs,
        **options.parameters,
    )


def render_again(
    request: Request,
    answer: str,
    problem: str,
    form: str,
    schema: Mapping[str, object],
    folder: Path | None,
    *,
    lined: bool = True,
) -> Request:
    """Return the same conversation, which goes on with the answer and asks once more for ``form`` alone.

    It is a new request with its own hash, so the ledger keeps and counts it like any other. ``lined`` is False if the
    form is itself JSON.
    """
    words = load_template("reask", folder).render({"problem": problem.rstrip("."), "form": form})
    turns = (*request.messages, Message("assistant", answer), Message("user", words))
    return replace(request, messages=turns, schema=schema, lined=lined)


# Add worked examples to a question, after the criterion's own examples. They cannot close the question's tags.

Name = Annotated[str, Field(min_length=1, max_length=10_000)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]


class Part(BaseModel):
    """Base class of all parts: frozen, with finite numbers only and no unknown fields.

    Validators are built with the first instance, so that they do not slow down the start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Example(Part):
    """A worked example for the judge's prompt: a case, the score that people gave it, and the reason.

    ``document`` is the hash from ``mark_document``. It keeps the example out of questions on the same document without
    revealing the document.
    """

    input: Text
    output: Text
    criterion: Name
    score: float
    reason: Text = ""
    document: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def mark_document(document: object, salt: str) -> str:
    """Return the salted SHA-256 hash of a document's id, in hexadecimal digits."""
    return hashlib.sha256(f"{salt}\x1f{document}".encode("utf-8", "surrogatepass")).hexdigest()


def with_examples(criterion: Criterion, examples: Sequence[Example], task: Task) -> Criterion:
    """Return the criterion with these examples in its guide.

    Without examples, the criterion and its questions stay the same.

    >>> shown = Example(input="Why?", output="So.", criterion="Be clear.", score=2, reason="Too short.",
    ...                 document="0" * 64)
    >>> print(with_examples(Criterion("Be clear."), [shown], Task("t", "T")).guide.examples)
    Example 1
    Input: Why?
    Output: So.
    Score by people: 2
    Why: Too short.
    """
    if not examples:
        return criterion
    shown = [_render(number, example, task) for number, example in enumerate(examples, 1)]
    listed = [criterion.guide.examples] if criterion.guide.examples else []
    return replace(criterion, guide=replace(criterion.guide, examples="\n\n".join([*listed, *shown])))


def _render(number: int, example: Example, task: Task) -> str:
    lines = [
        f"Example {number}",
        f"{task.input_field}: {neutralise(example.input)}",
        f"{task.output_field}: {neutralise(example.output)}",
        f"Score by people: {example.score:g}",
    ]
    return "\n".join([*lines, *([f"Why: {neutralise(example.reason)}"] if example.reason else [])])
