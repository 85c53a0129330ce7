"""Write the questions to a model about an instance's criteria, and read the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coeval.domain import Answer, Ask, Instance, Request, Rung, Task
from coeval.errors import InputError
from coeval.extensions.rubrics.queries import Criterion, Judgment
from coeval.extensions.rubrics.scoring import Rubric, read_rubric, told_points
from coeval.folded_text import fold
from coeval.llm.prompting.questions import (
    MAX_QUOTE,
    MAX_WORDS,
    build_list,
    build_object,
    build_text,
    render_again,
)
from coeval.llm.prompting.template_files import load_template, neutralise, render_sample, task_values
from coeval.llm.protocols.ladder import (
    ask_in_form,
    ask_until_read,
    join_answers,
    readable_text,
    rung_of,
    unread_problem,
    unread_reason,
)
from coeval.llm.reading.answer_text import MIN_COPY, find_json, find_members, strip_thoughts
from coeval.usecases.drafting.item_runs import ItemSettings

MAX_EVIDENCE = 10
MAX_EXPLANATION = 4000

FOLDER = Path(__file__).parent
CRITERION = {"text": build_text(MAX_QUOTE), "points": {"type": "number"}, "axis": build_text(60)}
MAX_SHOWN = 3
"""Largest number of passages for one judgment."""


@dataclass(frozen=True, slots=True)
class RubricsRun(ItemSettings):
    """The settings of a run that writes criteria, or judges by them."""

    way: str = "instance"
    count: int = 8
    reference: bool = False
    show: bool = False
    """True to show these judgments to annotators; those of a task's first run are always shown."""


@dataclass(frozen=True, slots=True)
class DraftedCriteria:
    """The criteria that a model wrote for an instance, or the reason if there are none."""

    instance: int
    rubrics: tuple[Rubric, ...]
    reason: str
    rung: str


def _render(name: str, task: Task, instance: Instance, settings: RubricsRun, **values: object) -> str:
    sample = render_sample(task, instance, reference=settings.reference)
    values |= {"sample": sample, "input_name": task.input_field}
    return load_template(name, FOLDER).render(task_values(task) | values)


async def ask_criteria(ask: Ask, task: Task, instance: Instance, settings: RubricsRun) -> DraftedCriteria:
    """Return the criteria that a model writes for an instance; if none could be read, return the reason."""
    question = _render("rubrics-criteria", task, instance, settings, count=settings.count)
    schema = build_object({"criteria": build_list(build_object(CRITERION), settings.count)})
    request = settings.build_request(question, schema)
    reply = await ask_until_read(
        ask, request, 0, lambda answer: read_criteria(answer, request), CRITERIA_FORM
    )
    return DraftedCriteria(instance.id, reply.value, reply.reason, reply.rung)


CRITERIA_FORM = '{"criteria": [{"text": "...", "points": ..., "axis": "..."}]}'


def read_criteria(answer: Answer, request: Request) -> tuple[tuple[Rubric, ...], str]:
    """Return the criteria in an answer without copies from the question, or the reason if it contains none."""
    question = fold("\n\n".join(message.content for message in request.messages))
    for members in reversed(_objects(answer, request)):
        listed = members.get("criteria")
        if not isinstance(listed, list) or not listed:
            continue
        try:
            rubrics = [read_rubric(entry, f"criterion {n}") for n, entry in enumerate(listed, 1)]
        except InputError as error:
            return (), str(error)
        texts = {rubric: fold(rubric.text) for rubric in rubrics}
        new = tuple(rubric for rubric, text in texts.items() if len(text) < MIN_COPY or text not in question)
        return new, "" if new else "it only repeats the question"
    return (), "it has no list of criteria"


def render_judging(
    task: Task, instance: Instance, criteria: Sequence[Criterion], settings: RubricsRun
) -> Request:
    """Return the question whether the criteria, which are numbered from 1, are met."""
    listed = "\n".join(
        f"[{n}] ({told_points(criterion.rubric.points)} points) {neutralise(criterion.rubric.text)}"
        for n, criterion in enumerate(criteria, 1)
    )
    each = "this criterion and by nothing else" if len(criteria) == 1 else "each criterion on its own"
    question = _render("rubrics-judgments", task, instance, settings, criteria=listed, each=each)
    judgment = build_object(
        {
            "criterion": {"type": "integer", "enum": list(range(1, len(criteria) + 1))},
            "explanation": build_text(MAX_WORDS),
            "met": {"type": "boolean"},
            "evidence": build_list(build_text(MAX_QUOTE), MAX_SHOWN),
        }
    )
    schema = build_object({"judgments": build_list(judgment, len(criteria))})
    return settings.build_request(question, schema)


async def ask_judgments(
    ask: Ask,
    task: Task,
    instance: Instance,
    criteria: Sequence[Criterion],
    settings: RubricsRun,
) -> list[Judgment]:
    """Return one judgment per criterion. If the answers lack a criterion, its judgment has a reason instead
    of a value.
    """
    request = render_judging(task, instance, criteria, settings)
    count = len(criteria)

    def missing_in(answer: Answer) -> list[int]:
        read = read_judgments(answer, request, count)
        return [number for number in range(1, count + 1) if number not in read]

    def again(answer: Answer) -> Request | None:
        missing = missing_in(answer)
        if not missing:
            return None
        form = json.dumps({str(number): "..." for number in missing})
        schema = build_object({str(number): {"type": "boolean"} for number in missing})
        problem = unread_problem(_told(missing), answer)
        return render_again(request, answer.text, problem, form, schema, None, lined=False)

    answers = await ask_in_form(ask, request, 0, again)
    read: dict[int, Judgment] = {}
    for place, answer in reversed(list(enumerate(answers))):  # what the first answer says in the form stays
        rung = Rung.AGAIN if place else rung_of(answer, "JSON")
        judged = read_judgments(answer, request, count)
        read |= {number: replace(judgment, rung=rung) for number, judgment in judged.items()}
    problem = _told([number for number in range(1, count + 1) if number not in read])
    reason = unread_reason(unread_problem(problem, answers[-1]), answers)
    raw = join_answers(answers)
    return [
        replace(read[n], criterion=criterion.id)
        if n in read
        else Judgment(criterion.id, None, reason=reason, raw=raw)
        for n, criterion in enumerate(criteria, 1)
    ]


def _told(missing: Sequence[int]) -> str:
    return "it has no judgment by " + ", ".join(f"[{number}]" for number in missing[:20])


def read_judgments(answer: Answer, request: Request, count: int) -> dict[int, Judgment]:
    """Return the judgments in an answer by criterion number, without contradictory ones."""
    read: dict[int, Judgment] = {}
    unsure: set[int] = set()
    for members in _objects(answer, request):
        listed = members.get("judgments")
        entries = listed if isinstance(listed, list) else [members, *_by_number(members)]
        for entry in entries:
            if not isinstance(entry, Mapping):
                continue
            number, value = _number(entry, count, len(entries)), _value(entry)
            if number is None or value is None:
                continue
            if number in read and read[number].value != value:
                unsure.add(number)
            read[number] = Judgment(
                number, value, _text(entry.get("explanation")), _passages(entry.get("evidence"))
            )
    return {number: judgment for number, judgment in read.items() if number not in unsure}


def _by_number(members: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return entries for the form of the second question: an object with a value for each number."""
    return [{"criterion": name, "met": value} for name, value in members.items() if name.isdigit()]


def _objects(answer: Answer, request: Request) -> list[Mapping[str, Any]]:
    """Return the JSON objects in an answer, except for copies from the question.

    If the answer is cut off, these are the complete entries.
    """
    question = "\n\n".join(message.content for message in request.messages)
    text = strip_thoughts(readable_text(answer))
    values = [part.value for part in find_json(text) if text[part.start : part.end] not in question]
    return [value for value in [*values, find_members(text)] if isinstance(value, Mapping) and value]


def _number(entry: Mapping[str, Any], count: int, entries: int) -> int | None:
    number = entry.get("criterion")
    if number is None and count == entries == 1:
        return 1
    if isinstance(number, str) and number.strip(" []").isascii() and number.strip(" []").isdigit():
        number = int(number.strip(" []")[:6])
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if 1 <= number <= count else None


MET_KEYS = ("met", "criteria_met", "criterion_met")


def _value(entry: Mapping[str, Any]) -> float | None:
    """Return the value of one judgment; None if it is missing, contradictory or neither true nor false."""
    said = [entry[key] for key in MET_KEYS if key in entry]
    if not said or any(value != said[0] for value in said):
        return None
    return float(said[0]) if said[0] in (0, 1) and not isinstance(said[0], str) else None


def _text(value: object) -> str:
    words = value if isinstance(value, str) else ""
    kept = (letter for letter in words if letter != "\0" and not "\ud800" <= letter <= "\udfff")
    return "".join(kept).strip()[:MAX_EXPLANATION]


def _passages(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(text for passage in listed[:MAX_EVIDENCE] if (text := _text(passage)))
