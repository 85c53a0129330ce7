"""Worked examples in a question, after the criterion's own: data that cannot close the question's tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coeval.domain import Criterion, Task
from coeval.judge.parts import Example
from coeval.llm.prompting.fencing import neutralise


def with_examples(criterion: Criterion, examples: Sequence[Example], task: Task) -> Criterion:
    """The criterion with examples in its guide; without any it stays as it is, and so do its questions.

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
