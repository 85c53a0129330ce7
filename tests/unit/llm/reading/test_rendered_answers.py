"""Thousands of rendered answers of known truth: how many are read wrong, and how many are missed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from coeval.llm.reading.evaluations import ParsedEvaluation, parse_evaluation, parse_rationale
from coeval.llm.reading.several_criteria import parse_evaluations
from tests.unit.llm.reading import rendered
from tests.unit.llm.reading.rendered import Answer, Case, Style

Reader = Callable[[Answer, Case], Sequence[ParsedEvaluation]]
DRAWS = 20
"""Answers of each style; `python -m tests.unit.llm.reading.test_rendered_answers` draws a hundred."""


def read_one(answer: Answer, case: Case) -> Sequence[ParsedEvaluation]:
    """By the one parser or the other: what is read of a whole answer may not depend on the form asked for."""
    parse = case.rng.choice([parse_evaluation, parse_rationale])
    scale, whole = (case.low, case.high), answer.finish == "stop"
    return [parse(answer.text, scale, case.texts[0], given=f"{answer.prompt}\n{answer.sample}", whole=whole)]


def read_several(answer: Answer, case: Case) -> Sequence[ParsedEvaluation]:
    given, whole = f"{answer.prompt}\n{answer.sample}", answer.finish == "stop"
    scales = [(case.low, case.high)] * case.n
    return parse_evaluations(answer.text, case.texts, scales, given=given, whole=whole)


def score(
    styles: Sequence[Style], read: Reader, draws: int, *, several: bool, fused: bool
) -> tuple[float, float, list[str]]:
    """The shares of scores read wrong and missed, and a line for each of these answers."""
    total, wrong, missed = 0, [], []
    for place, style in enumerate(styles):
        for draw in range(draws):
            seed = 1000 * place + draw
            case = Case(seed, 2 + seed % 3 if several else 1, overall=fused)
            answer = style(case)
            found = [one.score for one in read(answer, case)]
            for truth, got in zip(answer.truth, found, strict=True):
                total += 1
                said = f"{style.__name__}: {found} for {answer.truth} of {answer.text!r}"
                (missed if got is None else wrong).extend([said] * (got != truth))
    return len(wrong) / total, len(missed) / total, [*wrong, *missed]


@pytest.mark.parametrize("styles", [rendered.FIRST, rendered.SECOND], ids=["first", "second"])
def test_single_answers(styles: Sequence[Style]) -> None:
    wrong, missed, said = score(styles, read_one, DRAWS, several=False, fused=False)
    assert wrong <= 0.002 and missed <= 0.01, "\n".join(said)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("styles", [rendered.SEVERAL, rendered.SECOND_SEVERAL], ids=["first", "second"])
def test_answers_by_several_criteria(styles: Sequence[Style], fused: bool) -> None:
    wrong, missed, said = score(styles, read_several, DRAWS, several=True, fused=fused)
    assert wrong <= 0.002 and missed <= 0.08, "\n".join(said)


def test_the_forms_that_are_asked_for_are_always_read() -> None:
    for styles, read, several in (
        (rendered.EXACT, read_one, False),
        (rendered.SEVERAL_EXACT, read_several, True),
    ):
        for fused in {False, several}:
            wrong, missed, said = score(styles, read, 100, several=several, fused=fused)
            assert wrong == missed == 0, "\n".join(said)


if __name__ == "__main__":
    for name, styles, read, several, fused in (
        ("single", rendered.FIRST, read_one, False, False),
        ("several", rendered.SEVERAL, read_several, True, False),
        ("fusion", rendered.SEVERAL, read_several, True, True),
        ("single, second set", rendered.SECOND, read_one, False, False),
        ("several, second set", rendered.SECOND_SEVERAL, read_several, True, False),
        ("fusion, second set", rendered.SECOND_SEVERAL, read_several, True, True),
    ):
        wrong, missed, said = score(styles, read, 100, several=several, fused=fused)
        print(f"{name}: {len(styles)} styles, {wrong:.2%} wrong, {missed:.2%} missed")
        print("\n".join(f"  {line[:400]}" for line in sorted(set(said))[:12]))
