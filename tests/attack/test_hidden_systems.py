"""Finding out who wrote an output: by its number, its name, its place in the queue, or a text beside it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from typing import Any

import pytest

from coeval.domain import (
    ColumnRole,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.rules.arms import Aliases, find_telling
from coeval.ui.app.step_json import step_json
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.images import set_image_hosts
from coeval.usecases.scrutiny.design import list_columns
from coeval.usecases.scrutiny.steps import Where, get_aliases, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study

N_DOCUMENTS = 40
SPELLINGS = (
    "gpt4o-mini",
    "GPT 4O MINI",
    "gpt_4o_mini",
    "G-P-T-4-o m.i.n.i",
    "ＧＰＴ-4o mini",
    "by GPT-4o mini (2024)",
)


@pytest.fixture(scope="module")
def seen(context: Context) -> list[tuple[dict[str, object], str, int]]:
    """What an annotator is shown of 40 documents by two systems, with the system and the document of each."""
    instances = tuple(
        Instance(
            f"{n}{system}", f"Question {n}?", f"An answer to {n}: {system}.", f"d{n}", f"system-{system}"
        )
        for n in range(N_DOCUMENTS)
        for system in "ab"
    )
    rows = (EvaluationRow(RowKind.SCORE, "4"), EvaluationRow(RowKind.EVIDENCE, "It is."))
    drafts = tuple(ImportedDraft(one.external_id, "Be true.", 4.0, rows) for one in instances)
    run = ImportedRun(Run("imported", "m", "first", shown=True), drafts)
    import_study(
        context, OPERATOR, Study(Task("hidden", "A task"), instances, (Criterion("Be true."),), (run,))
    )
    ana = sign_in(context, "Ana")[0]
    shown = []
    for position in range(1, 2 * N_DOCUMENTS + 1):
        step = get_step(context, ana, "hidden", Where(position=position))
        assert step.instance
        sent = step_json(step, get_aliases(context, ana, "hidden"))
        shown.append((sent, step.instance.system, int(step.instance.document[1:])))
    return shown


def test_no_number_tells_the_system(seen: list[tuple[dict[str, object], str, int]]) -> None:
    """By any of the lowest bits of the instance, its draft and its lines, or by their order: 40 of 80, give or take."""
    of_a = [system == "system-a" for _, system, _ in seen]
    numbers = {
        "instance": [sent["instance"]["id"] for sent, _, _ in seen],  # type: ignore[index]
        "draft": [sent["evaluation"]["draft"] for sent, _, _ in seen],  # type: ignore[index]
        "row": [sent["evaluation"]["rows"][0]["id"] for sent, _, _ in seen],  # type: ignore[index]
        "position": list(range(len(seen))),
    }
    for kind, ids in numbers.items():
        assert len(set(ids)) == len(ids)
        median = statistics.median(ids)
        signs = {f"bit {bit}": [bool(number >> bit & 1) for number in ids] for bit in range(6)}
        signs["half"] = [number > median for number in ids]
        for name, sign in signs.items():
            hits = sum(a == b for a, b in zip(sign, of_a, strict=True))
            # 80 draws of one half: standard deviation 4.5; four of them either way
            assert 22 <= hits <= 58, (kind, name, hits)


def test_numbers_are_another_for_everybody() -> None:
    ids = [
        Aliases.of("seed", person).hide("instance", number) for person in range(30) for number in range(1, 60)
    ]
    assert len(set(ids)) == len(ids)
    one = Aliases.of("seed", 1)
    for kind in ("instance", "draft", "row"):
        for number in (1, 2, 3, 2**31, 2**48):
            assert one.reveal(kind, one.hide(kind, number)) == number and 1 <= one.hide(kind, number) <= 2**48


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_name_is_known_in_every_spelling(spelling: str) -> None:
    one = Instance("q", "?", "!", context={"by": spelling})
    assert find_telling([one], {"by"}, ["GPT-4o mini"]) == {"by"}


def show_all(context: Context, slug: str) -> list[dict[str, Any]]:
    """What an annotator is sent of every instance."""
    ana = sign_in(context, "Ana")[0]
    steps = [get_step(context, ana, slug)]
    steps += [get_step(context, ana, slug, Where(position=at)) for at in range(2, steps[0].total + 1)]
    return [step_json(step, get_aliases(context, ana, slug))["instance"] for step in steps]


def make_beside(context: Context, slug: str, systems: Sequence[str]) -> None:
    """An instance by each of the systems: a column of notes names the first, another is named after it."""
    instances = [
        Instance(
            f"{slug}{n}",
            f"Why {n}?",
            "So.",
            f"d{n}",
            system,
            context={
                "notes": "made by gpt4o-mini" if n == 0 else "none",
                "gpt4o mini": "yes",
                "topic": "smells",
            },
        )
        for n, system in enumerate(systems)
    ]
    task = Task(slug, "A task", columns=dict.fromkeys(instances[0].context, ColumnRole.SHOWN))
    import_study(context, OPERATOR, Study(task, tuple(instances), (Criterion("Be true."),)))


def test_a_column_that_names_a_system_anywhere_is_shown_nowhere(context: Context) -> None:
    """Else an instance without it is by that system: a column left out tells as much as one that is read."""
    make_beside(context, "beside", ["GPT-4o mini", "Llama", "Llama", "Alpaca"])
    shown = show_all(context, "beside")
    assert len(shown) == 4 and all(one["context"] == [["topic", "smells"]] for one in shown)


def test_a_column_that_names_a_system_of_another_instance_is_not_shown(context: Context) -> None:
    """The answer of one system may come with what was said of another."""
    make_beside(context, "crossed", ["Llama", "GPT-4o mini"])
    assert all(one["context"] == [["topic", "smells"]] for one in show_all(context, "crossed"))


def test_a_name_that_comes_later_hides_the_column_from_then_on(context: Context) -> None:
    make_beside(context, "growing", ["Llama", "Alpaca"])
    assert all(len(one["context"]) == 3 for one in show_all(context, "growing"))
    later = Instance("x", "Why not?", "So.", "d9", "GPT-4o mini")
    import_study(context, OPERATOR, Study(Task("growing", "A task"), (later,)))
    assert {name for one in show_all(context, "growing") for name, _ in one["context"]} == {"topic"}
    (told,) = [one for one in list_columns(context, OPERATOR, "growing") if one.name == "notes"]
    assert told.withheld


def test_an_image_whose_address_names_a_system_is_shown_nowhere(context: Context) -> None:
    """An image whose address tells at one instance is shown at none; the bytes of one tell nothing."""
    host, bytes_ = "https://pics.example.org", "data:image/png;base64,iVBORw0KGgpt4omini"
    photos = (
        {"photo": f"{host}/gpt4omini/1.png", "gpt-4o-mini": f"{host}/2.png"},
        {"photo": f"{host}/3.png"},
    )
    instances = tuple(
        Instance(
            f"{n}",
            f"What is {n}?",
            "A bee.",
            f"d{n}",
            system,
            context=one | {"sketch": f"{host}/4.png", "scan": bytes_},
        )
        for n, (one, system) in enumerate(zip(photos, ("GPT-4o mini", "Llama"), strict=True))
    )
    columns = dict.fromkeys(("photo", "gpt-4o-mini", "sketch", "scan"), ColumnRole.IMAGE)
    task = Task("pictures", "A task", columns=columns)
    import_study(context, OPERATOR, Study(task, instances, (Criterion("Be true."),), ()))
    set_image_hosts(context, OPERATOR, "pics.example.org")
    for sent in show_all(context, "pictures"):
        assert {image["name"] for image in sent["images"]} == {"sketch", "scan"}
        assert "gpt4omini/1" not in json.dumps(sent)
