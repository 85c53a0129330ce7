"""For pytest: an output has to reach a score.

In a test::

    from coeval.judge.adapters.assertion import assert_judged

    def test_the_answer_is_right():
        assert_judged("judge.json", input=question, output=answer(question), at_least={"Be right.": 4})
"""

from __future__ import annotations

from pathlib import Path

from coeval.domain import Instance
from coeval.judge.adapters.thresholds import AtLeast, score_output
from coeval.judge.running.judge import LEDGER, Judge


def assert_judged(
    judge: Judge | str | Path,
    *,
    input: str,
    output: str,
    at_least: AtLeast,
    reference: str = "",
    document: str = "",
    ledger: str | Path = LEDGER,
) -> None:
    """Fail where a score lies below what is asked, or where there is none.

    Args:
        judge: a judge, or the path of its file.
        at_least: the least score by every criterion, or by those that are named.
        document: its id in the study, so that no example from it is shown.

    Raises:
        AssertionError: it names every criterion that fails, with its score.
        InputError: the file is no judge, or a criterion is none of its.
        ModelError: no model is set up, or it refused.
    """
    __tracebackhide__ = True
    instance = Instance("output", input, output, document, reference=reference)
    failed = [one for one in score_output(judge, instance, at_least, ledger=ledger) if not one.passed]
    if failed:
        raise AssertionError("\n".join(map(str, failed)))
