"""Thousands of rendered answers of known truth, up the whole ladder: how many are read wrong, and how many missed.

The model of these tests gives the rendered answer first. If it is asked once more, it states the truth in the form, or
nothing if there is none.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from coeval.domain import Answer, Criterion, Request, Rung, Scale
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.ladder import ScoreQuestion, Verdict
from coeval.llm.reading.evaluations import read_evaluation, read_evaluations
from coeval.llm.reading.scores import ParsedEvaluation
from tests.unit.llm.reading import rendered
from tests.unit.llm.reading.rendered import Case, Style

DRAWS = 20
"""Answers of each style; `python -m tests.unit.llm.reading.test_rendered_answers` draws a hundred."""

NO_TRUTH = {"contradiction", "cut_off", "several_contradiction", "several_cut"}
"""Styles of cut and contradictory answers."""


@dataclass
class Count:
    """The scores of some styles: all, those read wrong, those missed, and those that needed a second question."""

    total: int = 0
    again: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        shares = (len(part) / self.total for part in (self.wrong, self.missed))
        return "{:.2%} wrong, {:.2%} missed, {:.0%} asked again".format(*shares, self.again / self.total)


def climb(answer: rendered.Answer, case: Case) -> list[Verdict]:
    """The verdicts on a rendered answer and, where it is not in the form, on the answer to the second question."""
    scale = (case.low, case.high)

    def read(text: str, given: str, whole: bool) -> Sequence[ParsedEvaluation]:
        if case.n == 1:
            return [read_evaluation(text, scale, case.texts[0], given=given, whole=whole)]
        return read_evaluations(text, case.texts, [scale] * case.n, given=given, whole=whole)

    truth = dict(zip(["score"] if case.n == 1 else case.labels(), answer.truth, strict=True))

    async def ask(request: Request, sample: int) -> Answer:
        if request.schema is None:
            return Answer(answer.text, answer.finish)
        names = request.schema["properties"]
        return Answer(json.dumps({name: truth[name] for name in names}), "stop")  # type: ignore[attr-defined]

    labels = ["Score"] if case.n == 1 else [f"[{name}] Score" for name in case.labels()]
    criteria = [Criterion(text, scale=Scale(*scale)) for text in case.texts]
    question = ScoreQuestion(labels, criteria, read, JudgeOptions("m"))
    return asyncio.run(question.ask(ask, Request("m", ()), 0, f"{answer.prompt}\n{answer.sample}"))


def count(styles: Sequence[Style], draws: int, *, several: bool = False, fused: bool = False) -> Count:
    found = Count()
    for place, style in enumerate(styles):
        for draw in range(draws):
            seed = 1000 * place + draw
            case = Case(seed, 2 + seed % 3 if several else 1, overall=fused)
            answer = style(case)
            verdicts = climb(answer, case)
            said = (
                f"{style.__name__}: {[one.score for one in verdicts]} for {answer.truth} of {answer.text!r}"
            )
            for truth, verdict in zip(answer.truth, verdicts, strict=True):
                found.total += 1
                found.again += verdict.rung in (None, Rung.AGAIN)
                if verdict.score != truth:
                    (found.missed if verdict.score is None else found.wrong).append(said)
    return found


SETS = [
    pytest.param(rendered.FIRST, False, False, id="single"),
    pytest.param(rendered.SEVERAL, True, False, id="several"),
    pytest.param(rendered.SEVERAL, True, True, id="fused"),
]


@pytest.mark.parametrize(("styles", "several", "fused"), SETS)
def test_hardly_an_answer_is_read_wrong_or_missed(
    styles: Sequence[Style], several: bool, fused: bool
) -> None:
    found = count(styles, DRAWS, several=several, fused=fused)
    assert len(found.wrong) <= 0.001 * found.total, "\n".join(found.wrong)
    assert len(found.missed) <= 0.005 * found.total, "\n".join(found.missed)
    assert not [said for said in found.wrong if said.partition(":")[0] in NO_TRUTH]


def test_the_forms_that_are_asked_for_are_read_at_once() -> None:
    assert count(rendered.EXACT, 100).again == 0
    for fused in (False, True):
        found = count(rendered.SEVERAL_EXACT, 100, several=True, fused=fused)
        assert (found.again, found.wrong, found.missed) == (0, [], [])


if __name__ == "__main__":
    for param in SETS:
        styles, several, fused = param.values
        found = count(styles, 100, several=several, fused=fused)  # type: ignore[arg-type]
        print(f"{param.id}: {found}")
        print("\n".join(f"  {line[:300]}" for line in sorted({*found.wrong, *found.missed})[:12]))
