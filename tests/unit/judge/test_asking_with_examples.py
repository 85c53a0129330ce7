"""Examples from corrections through the judge's own protocol: a stub that overrates until it is shown examples."""

from __future__ import annotations

import asyncio
import re

import numpy as np
import pytest

from coeval.domain import Criterion, Instance, Request, Task
from coeval.errors import InputError
from coeval.extensions.judge.learning.examples import Correction, ExampleAsker, Question
from coeval.extensions.judge.learning.learn import Wishes, learn_with_examples
from coeval.extensions.judge.model.labels import Labels
from coeval.llm.client.client import Exchange
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.protocol import Brief
from tests.support.models.fake_sender import FakeSender, make_runner
from tests.support.studies.simulated_judges import simulate_labels

CRITERIA = {7: Criterion("clear"), 9: Criterion("true")}


class Overrating(FakeSender):
    """Says what the output tells it to, and one more by the criterion "clear" where it is shown no example."""

    async def send(self, request: Request, answers: int = 1) -> Exchange:
        words = request.messages[-1].content
        own = re.search(r"<sample_output[^>]*>\nworth (\d) by clear, (\d) by true", words)
        assert own, words
        by_clear = "by nothing else:\nclear" in words
        shown = "Score by people" in words
        said = int(own[1]) + (not shown) if by_clear else int(own[2])
        self.replies = [f"Score: {said}"]
        return await super().send(request, answers)


def make_study() -> tuple[Labels, dict[str, Instance], list[Correction]]:
    labels = simulate_labels(4, documents=24, bias=1, second=False)
    said = labels.judges.set_index(["instance", "criterion"])["score"]
    documents = dict(labels.people[["instance", "document"]].itertuples(index=False, name=None))
    instances = {}
    for name, document in documents.items():
        worth = f"worth {said[name, 'clear'] - 1:g} by clear, {said[name, 'true']:g} by true, {name}"
        instances[name] = Instance(name, f"asked in {document}", worth, document)
    rows = labels.people[["instance", "document", "criterion", "score"]].itertuples(index=False, name=None)
    corrections = [
        Correction(i, d, c, instances[i].input, instances[i].output, said[i, c], score, "because")
        for i, d, c, score in rows
    ]
    return labels, instances, corrections


@pytest.mark.slow
def test_a_judge_is_cured_by_examples_of_other_documents() -> None:
    labels, instances, corrections = make_study()
    sender = Overrating()
    brief = Brief(Task("t", "T"), CRITERIA, JudgeOptions("m", "score-only"))

    async def learn() -> None:
        async with make_runner(sender, concurrency=1) as runner:
            study = await learn_with_examples(
                labels, corrections, ExampleAsker(brief, instances, runner), judge="a", salt="s",
                wishes=Wishes(folds=4, examples=(3,)),
            )  # fmt: skip
        assert study.kept == ("examples",) and len(study.fitted.examples) == 6
        assert study.after.rmse < 0.8 * study.before.rmse

    asyncio.run(learn())
    assert len(sender.sent) == 24 * 2 * 2
    for request in sender.sent:
        asked = re.findall(r"asked in (d\d+)", request.messages[-1].content)
        assert len(asked) == 4 and len(set(asked)) == 4, (
            "three examples and the sample, each of its own document"
        )


def test_what_cannot_be_read_is_nan_and_a_protocol_without_examples_is_refused() -> None:
    _, instances, _ = make_study()
    brief = Brief(Task("t", "T"), CRITERIA, JudgeOptions("m", "score-only"))

    async def ask() -> None:
        async with make_runner(FakeSender("no idea", "none", "still none")) as runner:
            (verdict,) = await ExampleAsker(brief, instances, runner)([Question("0-0", "clear", ())])
            assert np.isnan(verdict.score)
            pairs = Brief(Task("t", "T"), CRITERIA, JudgeOptions("m", "pairwise"))
            with pytest.raises(InputError, match="pairwise takes no examples"):
                ExampleAsker(pairs, instances, runner)

    asyncio.run(ask())
