"""Add worked examples to a question, after the criterion's own examples. They cannot close the question's tags."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from coeval.domain import MAX_TEXT, Criterion, Task
from coeval.llm.prompting.template_values import neutralise

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
    own = [criterion.guide.examples] if criterion.guide.examples else []
    return replace(criterion, guide=replace(criterion.guide, examples="\n\n".join([*own, *shown])))


def _render(number: int, example: Example, task: Task) -> str:
    lines = [
        f"Example {number}",
        f"{task.input_field}: {neutralise(example.input)}",
        f"{task.output_field}: {neutralise(example.output)}",
        f"Score by people: {example.score:g}",
    ]
    return "\n".join([*lines, *([f"Why: {neutralise(example.reason)}"] if example.reason else [])])
