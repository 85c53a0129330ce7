"""Finding out who wrote an output: by its number, its name, its place in the queue, or a text beside it."""

from __future__ import annotations

import json
import statistics

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
from coeval.rules.aliases import Aliases
from coeval.rules.arms import tells_system
from coeval.study.access import OPERATOR, Context
from coeval.study.hosting.image_hosts import set_image_hosts
from coeval.study.importing.importing import import_study
from coeval.study.people.sessions import sign_in
from coeval.study.scrutiny.steps import Where, get_aliases, get_step
from coeval.ui.study_app.scrutiny.step_json import step_json

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


def test_nor_does_what_the_owner_calls_an_instance(seen: list[tuple[dict[str, object], str, int]]) -> None:
    assert all(not sent["instance"]["external_id"] for sent, _, _ in seen)  # type: ignore[index]


def test_which_of_a_document_comes_first_is_drawn(seen: list[tuple[dict[str, object], str, int]]) -> None:
    first: dict[int, str] = {}
    for _, system, document in seen:
        first.setdefault(document, system)
    n = list(first.values()).count("system-a")
    assert 8 <= n <= 32  # 40 draws of one half: standard deviation 3.2


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
    assert tells_system(Instance("q", "?", "!", system="GPT-4o mini"), spelling)


def test_texts_beside_the_output_name_no_system(context: Context) -> None:
    beside = {f"column {n}": text for n, text in enumerate(SPELLINGS)} | {
        "gpt4o mini": "yes",
        "topic": "smells",
    }
    one = Instance("q1", "Why?", "So.", "d1", "GPT-4o mini", context=beside)
    study = Study(Task("beside", "A task"), (one,), (Criterion("Be true."),))
    import_study(context, OPERATOR, study)
    shown = json.dumps(
        step_json(get_step(context, sign_in(context, "Ana")[0], "beside"))["instance"], ensure_ascii=False
    )
    assert "smells" in shown and "column" not in shown and "gpt" not in shown.casefold()


def test_nor_does_the_address_of_an_image(context: Context) -> None:
    name, host = "GPT-4o mini", "https://pics.example.org"
    photos = {
        "photo": f"{host}/gpt4omini/1.png",
        "sketch": f"{host}/1.png",
        "gpt-4o-mini": f"{host}/2.png",
        "odd": "http://gpt4omini/1.png",
    }
    one = Instance("1", "What is it?", "A bee.", "d", name, context=photos)
    task = Task("pictures", "A task", columns=dict.fromkeys(photos, ColumnRole.IMAGE))
    import_study(context, OPERATOR, Study(task, (one,), (Criterion("Be true."),), ()))
    set_image_hosts(context, OPERATOR, "pics.example.org")
    ana = sign_in(context, "Ana")[0]
    sent = step_json(get_step(context, ana, "pictures"), get_aliases(context, ana, "pictures"))
    shown = {image["name"]: image for image in sent["instance"]["images"]}
    assert set(shown) == {"photo", "sketch", "odd"} and shown["sketch"]["source"] == photos["sketch"]
    for hidden in ("photo", "odd"):
        assert not shown[hidden]["source"] and "says who wrote the output" in shown[hidden]["problem"]
    assert not tells_system(one, json.dumps(sent["instance"]))
