"""Which role a column gets before anybody chose one: what looks like an answer is hidden from everyone.

A judge that is shown the gold score returns the gold score, so a wrong "hidden" costs a click and a wrong
"shown" costs the study.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from coeval.domain import Column, ColumnRole, Instance, Scale
from coeval.rules.columns.images import looks_like_image

_SCORE = re.compile(
    r"scores?|rat(?:ings?|ed?|ers?)|labels?|gold|grades?|rank(?:ing)?|votes?|likert|mos|elo|humans?|"
    r"annotat(?:ors?|ions?)|workers?|experts?|crowd|judges?|judge?ments?|verdict|correct(?:ness)?|"
    r"prefer(?:ence|red)|win(?:ner)?|quality|overall|accuracy|bleu|rouge|chrf|meteor|bleurt|bertscore|comet|nli"
)
_SYSTEM = re.compile(r"models?|systems?|generator|llm|checkpoint")


def guess_columns(instances: Iterable[Instance], scale: Scale) -> list[Column]:
    """A column for every name in the context of these instances, in order of appearance.

    >>> guess_columns([Instance("a", "", "", context={"topic": "bees", "gold": "x"})], Scale())[0].role.value
    'shown to judge and people'
    """
    values: dict[str, list[str]] = {}
    for instance in instances:
        for name, value in instance.context.items():
            values.setdefault(name, []).append(value)
    return [guess_column(name, given, scale) for name, given in values.items()]


def guess_column(name: str, values: Iterable[str], scale: Scale) -> Column:
    """The column with the role it gets by its name and its values, and what its owner is to be asked."""
    words = _words(name)
    if any(map(_SCORE.fullmatch, words)):
        return _hidden(name, "its name is that of a score or a label")
    if any(map(_SYSTEM.fullmatch, words)):
        return _hidden(name, "its name is that of a system, which would tell who wrote the output")
    given = [value for value in values if value.strip()]
    if given and all(map(looks_like_image, given)):
        return Column(name, ColumnRole.IMAGE)
    numbers = [_number(value) for value in given]
    if numbers and all(number is not None and scale.low <= number <= scale.high for number in numbers):
        return _hidden(name, f"all its values are numbers on the scale {scale}")
    return Column(name, ColumnRole.SHOWN)


def select_context(
    context: Mapping[str, str], columns: Mapping[str, ColumnRole], *, judge: bool
) -> dict[str, str]:
    """The texts of an instance's context that a judge, or else a person, may see: in their order, blanks left out.

    Images are no texts: ``rules.columns.images`` lists them.
    """
    shown: dict[str, str] = {}
    for name, text in context.items():
        role = columns.get(name)
        if not text or role is None or role is ColumnRole.IMAGE:
            continue
        if role.judge_sees if judge else role.people_see:
            shown[name] = text
    return shown


def _hidden(name: str, why: str) -> Column:
    question = f"“{name}” is hidden from judge and people, because {why}: is it part of what is judged?"
    return Column(name, ColumnRole.HIDDEN, question=question)


def _words(name: str) -> set[str]:
    """The words of a column's name: ``goldScore_2`` has gold and score."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return {word.rstrip("0123456789") for word in re.split(r"[\W_]+", spaced.lower())} - {""}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
