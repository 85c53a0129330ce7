"""A study whose judge overrates one criterion by a point: what is learned from its people, and proved, is known."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from coeval.domain import Arm, Criterion, ImportedSubmission, Instance, Study, Task
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.study_import import import_study
from tests.support.models.openai_stub import Stub, start_stub

FAIR, OVERRATED = "Be true.", "Be brief."
WORDING = "Be brief: no sentence too many."
PEOPLE = ("Ana", "Ben", "Cem")
_WORTH = re.compile(r"worth (\d)")


def make_judged_study(documents: int = 24, seed: int = 5) -> Study:
    """Documents by two systems; three people scored each output without a draft, near to what it is worth."""
    draw = random.Random(seed)
    instances = tuple(
        Instance(
            f"{n}{system}",
            f"Question {n}?",
            f"Answer {n} by {system}, worth {draw.randint(1, 4)}.",
            f"d{n}",
            system,
        )
        for n in range(documents)
        for system in ("new", "old")
    )
    work = tuple(
        ImportedSubmission(
            name,
            one.external_id,
            criterion,
            float(min(5, max(1, worth_of(one.output) + draw.choice((-1, 0, 0, 0, 1))))),
            submitted_at=f"2026-01-0{1 + PEOPLE.index(name)}T09:00:00.000Z",
            arm=Arm.BLIND,
        )
        for one in instances
        for criterion in (FAIR, OVERRATED)
        for name in PEOPLE
    )
    return Study(
        Task("judged", "A judged task", "Answer the question."),
        instances,
        (Criterion(FAIR), Criterion(OVERRATED)),
        (),
        work,
    )


def worth_of(text: str) -> int:
    """What the output in a text is worth; the first, as examples stand with the criterion, after it."""
    return int(_WORTH.findall(text)[0])


def overrate(body: dict[str, Any]) -> str:
    """What the model says: the output's worth, and one more by the criterion that it overrates.

    Examples cure it of that; asked for a sharper wording, it proposes one.
    """
    prompt = "\n".join(str(message.get("content", "")) for message in body["messages"])
    if "People gave a" in prompt:
        meanings = [{"score": 1, "meaning": "More than a page."}]
        return json.dumps({"criterion": WORDING, "meanings": meanings, "why": "People counted words."})
    if "Score by people:" in prompt:
        return f"Rating: {worth_of(prompt)}"
    return f"Rating: {worth_of(prompt) + (OVERRATED in prompt)}"


@contextmanager
def serve_judged(context: Context) -> Iterator[tuple[Context, Stub]]:
    """The study, drafted by the model, which goes on answering while the context lasts."""
    with start_stub(overrate) as stub:
        connected = replace(
            context,
            settings=replace(context.settings, base_url=stub.url, model="stub-model", api_key="no-key"),
        )
        import_study(connected, OPERATOR, make_judged_study())
        drafting = run_drafting(connected, OPERATOR, "judged", RunSettings(protocol="score-only"))
        with ThreadPoolExecutor(1) as apart:  # where a browser is open, an event loop runs in this thread
            apart.submit(asyncio.run, drafting).result()
        yield connected, stub
