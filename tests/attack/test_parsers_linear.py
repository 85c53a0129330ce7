"""A model's answer is hostile input: reading it takes time that grows with its length and no faster.

Each text is made seven and then eight times as long, from 1 to 56 kB: longer answers are not read. Ratios of processor
time are what counts, so that a slow machine changes nothing: quadratic reading would take 64 times as long for the
last text as for the one before it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from coeval.extensions.fusion.protocol import read_plan
from coeval.llm.client.completions import parse_completion
from coeval.llm.client.failures import CallError, parse_retry_after, read_error_body, status_failure
from coeval.llm.prompting.template_files import neutralise
from coeval.llm.reading.answer_text import read_list
from coeval.llm.reading.evaluations import read_evaluation, read_evaluations
from coeval.llm.reading.quotes import find_quotes
from coeval.llm.reading.scores import read_preference

CRITERION = "Clarity: 1 = dull, 2 = fair, 3 = good, 4 = fine, 5 = bright"
SAMPLE = "The ferry left at 12, an hour late. Rating: 5 out of 5, they said; “Score: 4.” " * 20
UNITS = (
    ".", " ", "\n", "a", "a ", "4 ", "4/", "1-", ": ", "(", "[", "{", '"', "“", "'a' ", "*", "</", "|", "é", "\ud83d",
    "a: ", "1. ", "- ", "<think>", "</think>", "<|channel|>", "Rating ", "Rating: ", "score of ", "Score: 4 ",
    "Rating: 4\n", "out of ", "4/5 ", "Evidence:\n", '"a" ', '{"a":', '{"score": 4, "evidence": [', "[1] Score: 4 ",
    "| 4 ", "(1 = ", "... ", "retry in ", "api key ", "The ferry left ",
    "Wait, ", "<think", "Thinking...\n", "...done thinking.\n", "Preference: A ", "A is ", "not ", "if ",
    "a 4, ", "Clarity: ", "| 4 |\n", "|---|\n", "First pass: ", "[1] ", '{"score": 4} ', "<!--", "```thinking\n",
)  # fmt: skip
TAIL = "X"
SIZES = (1_000, 7_000, 56_000)


def parsers() -> Iterator[tuple[str, Callable[[str], object]]]:
    scale = (1, 5)
    yield "evaluation", lambda text: read_evaluation(text, scale, CRITERION, given=SAMPLE)
    yield "scores", lambda text: read_evaluations(text, [CRITERION, "True"], [scale, scale], given=SAMPLE)
    yield "preference", lambda text: read_preference(text, given=SAMPLE)
    yield "cut off", lambda text: read_evaluation(text, scale, CRITERION, given=SAMPLE, whole=False)
    yield "criteria", lambda text: read_list(text, given=SAMPLE)
    yield "plan", read_plan
    yield "quotes", partial(find_quotes, output=SAMPLE)
    yield "quotes in hostile output", lambda text: find_quotes(f"It says “{SAMPLE[:60]}x”.", text)
    yield "neutralise", neutralise
    yield "completion", _read_completion
    yield "errors", _read_error
    yield "rating by a hostile sample", lambda text: read_evaluation(SAMPLE, scale, CRITERION, given=text)
    yield "rating by a hostile criterion", lambda text: read_evaluation(SAMPLE, scale, text, given="")


def _read_completion(text: str) -> None:
    with pytest.raises(CallError):
        parse_completion(text)


def _read_error(text: str) -> None:
    from datetime import UTC, datetime

    message, code = read_error_body(text)
    status_failure(400, message, code, place="x", retry_after=parse_retry_after({}, datetime.now(UTC), text))


def seconds(parse: Callable[[str], object], text: str) -> float:
    """Of this thread alone: a server that another test left running takes processor time too."""
    started = time.thread_time()
    parse(text)
    return time.thread_time() - started


def hostile(unit: str, size: int) -> str:
    return unit * (size // len(unit)) + TAIL


SLOWEST = 3.0
"""Processor seconds that no text of 56 kB takes on the slowest machine the tests run on, by a wide margin."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parse"), list(parsers()), ids=[name for name, _ in parsers()])
def test_no_text_takes_longer_than_its_length(name: str, parse: Callable[[str], object]) -> None:
    wrong = []
    for unit in UNITS:
        small, middle, large = (seconds(parse, hostile(unit, size)) for size in SIZES)
        # Eight times the text may take eight times as long; three times that is the margin for noise and caches.
        if large > SLOWEST or large > 0.05 and large > 24 * max(middle, 0.002):
            wrong.append(f"{unit!r}: {small:.4f} s for 1 kB, {middle:.4f} for 7 kB, {large:.3f} for 56 kB")
    assert not wrong, "\n".join(wrong)


def test_ten_thousand_dots_hold_nobody_up() -> None:
    """What froze the server once: a long line of dots with a letter at its end, read as a rationale."""
    assert seconds(lambda text: read_evaluation(text, (1, 5)), "." * 10_000 + "X") < SLOWEST
