"""A data set in HealthBench's shape whose truth is known, a judge that errs at a known rate, and people who judge."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coeval.domain import Action, Person
from coeval.extensions.rubrics.reviews import Sent, SentLine, Sheet, get_rubrics_sheet, submit_rubrics_sheet
from coeval.usecases.access import Context
from tests.support.models.openai_stub import Body, Stub, start_stub

POINTS = (7, 5, -6, 3)
AXES = ("accuracy", "completeness")
_LISTED = re.compile(r"^\[(\d+)\] \([+−][\d.]+ points\) States that (\w+)\.$", re.M)
_OUTPUT = re.compile(r"<sample_output[^>]*>\n(.*?)\n</sample_output>", re.S)


@dataclass
class KnownRubrics:
    """Lines of a HealthBench file. A criterion "States that X." is met where the answer has the sentence "X."."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    truth: dict[tuple[str, str], bool] = field(default_factory=dict)
    """By the completion and the text of the criterion."""

    def write(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path

    def count_errors(self, rate: float) -> int:
        """Return how often a judge of that rate errs."""
        outputs = {line["completion_id"]: line["completion"] for line in self.lines}
        return sum(
            errs(text.removeprefix("States that ").rstrip("."), outputs[name], rate)
            for name, text in self.truth
        )


def make_known_rubrics(documents: int = 20, systems: int = 2, seed: int = 3) -> KnownRubrics:
    """Return conversations answered by several systems, four criteria each, about half of them met."""
    draw, known = random.Random(seed), KnownRubrics()
    for document in range(documents):
        facts = [f"fact{document}x{n}" for n in range(len(POINTS))]
        rubrics = [
            {
                "criterion": f"States that {fact}.",
                "points": points,
                "tags": ["level:example", f"axis:{AXES[n % 2]}"],
            }
            for n, (fact, points) in enumerate(zip(facts, POINTS, strict=True))
        ]
        for system in range(systems):
            said = [fact for fact in facts if draw.random() < 0.5]
            name = f"c{document}s{system}"
            known.lines.append(
                {
                    "prompt_id": f"p{document}",
                    "completion_id": name,
                    "system": f"system{system}",
                    "prompt": [
                        {"role": "user", "content": f"Question {document}?"},
                        {"role": "assistant", "content": "Which one?"},
                        {"role": "user", "content": "The first."},
                    ],
                    "completion": " ".join(["Here is what I know.", *(f"{fact}." for fact in said)]),
                    "rubrics": rubrics,
                    "example_tags": ["theme:made"],
                }
            )
            known.truth |= {
                (name, one["criterion"]): fact in said for one, fact in zip(rubrics, facts, strict=True)
            }
    return known


def errs(fact: str, output: str, rate: float) -> bool:
    """Return whether the judge errs here: always the same for the same question."""
    return random.Random(f"{fact}:{output}").random() < rate


def judge_reply(rate: float = 0.0) -> Callable[[Body], str]:
    """Return a model that reads the criteria in the question and errs at a rate."""

    def reply(body: Body) -> str:
        words = body["messages"][-1]["content"]
        output = _OUTPUT.findall(words)[-1]
        if "Write " in words and '"criteria"' in words:
            made = [
                {"text": f"States that fact9x{n}.", "points": (4, -2)[n % 2], "axis": "accuracy"}
                for n in range(2)
            ]
            return json.dumps({"criteria": made})
        judged = []
        for number, fact in _LISTED.findall(words):
            met = (f"{fact}." in output) != errs(fact, output, rate)
            quotes = [f"{fact}."] if f"{fact}." in output else []
            judged.append(
                {"criterion": int(number), "explanation": f"About {fact}.", "met": met, "evidence": quotes}
            )
        return json.dumps({"judgments": judged})

    return reply


@contextmanager
def serve_rubrics_judge(
    context: Context, rate: float = 0.0, **options: Any
) -> Iterator[tuple[Context, Stub]]:
    """Give the context a model that errs at a rate."""
    with start_stub(judge_reply(rate), **options) as stub:
        settings = replace(context.settings, base_url=stub.url, api_key="no-key", model="stub-model")
        yield replace(context, settings=settings), stub


def build_sent(
    sheet: Sheet, decide: Callable[[Sheet, Any], SentLine], added: tuple[SentLine, ...] = ()
) -> Sent:
    """Return what a browser would send of a sheet, each criterion decided on."""
    assert sheet.instance is not None
    return Sent(
        uid=f"{random.getrandbits(128):032x}",
        instance=sheet.instance.id,
        revision=sheet.saved.revision if sheet.saved else 0,
        run=sheet.run.id if sheet.run else None,
        lines=(*(decide(sheet, one) for one in sheet.criteria), *added),
    )


def judge_all(context: Context, person: Person, slug: str, known: KnownRubrics, rate: float = 0.0) -> int:
    """Have a person judge their whole queue by the truth, erring at a rate; return how many instances that were."""
    draw, count = random.Random(person.name), 0

    def decide(sheet: Sheet, criterion: Any) -> SentLine:
        assert sheet.instance is not None
        met = known.truth[sheet.instance.external_id, criterion.rubric.text]
        return SentLine(criterion.id, Action.APPROVE, value=float(met != (draw.random() < rate)))

    while (sheet := get_rubrics_sheet(context, person, slug)).instance is not None:
        submit_rubrics_sheet(context, person, slug, build_sent(sheet, decide))
        count += 1
    return count
