"""The seal as a rule of the house: who may read sealed labels at all is decided by what is imported."""

from __future__ import annotations

import ast

import pytest

from tests.house.test_architecture import FILES, imports, is_in, name_of, ours, room_of

READERS = {"coeval/extensions/judge/certification.py"}
"""The use case that may open a seal."""


@pytest.mark.slow
def test_only_the_use_case_that_certifies_opens_a_seal() -> None:
    module = "coeval/extensions/judge/queries_seal.py"
    using = {
        name_of(path)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if "open_seal" in (getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", ""))
    }
    assert using - {module} <= READERS, "these could read sealed labels"
    inside = {name_of(path) for path in FILES if "_list_labels" in path.read_text(encoding="utf-8")}
    assert inside == {module}, "the query of both parts is private to its file"


JUDGE = "extensions.judge"
ASKING = f"{JUDGE}.runtime"
"""What asks a judge away from a study. It keeps answers in a ledger, which is a file of its own."""

LEDGER = ("store.Store", "store.queries.calls")


PURE = ("model", "learning", "certificate", "runtime")
"""The folders of the judge that know nothing of a study."""


def test_what_fits_a_judge_cannot_reach_the_store_or_a_use_case() -> None:
    """It is handed ``Labels`` of the dev part, and has no way to ask for others."""
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in FILES
        if any(is_in(room_of(path), f"{JUDGE}.{room}") for room in PURE)
        for name in (*ours(path), *imports(path))
        if any(is_in(name, place) for place in ("store", "usecases", "sqlite3", "sqlite_utils"))
        and not (is_in(room_of(path), ASKING) and any(is_in(name, place) for place in LEDGER))
    ]
    wrong += [
        f"{name_of(path)} imports {name}"
        for path in FILES
        if any(is_in(room_of(path), f"{JUDGE}.{room}") for room in PURE if room != "runtime")
        for name in ours(path)
        if is_in(name, ASKING)
    ]
    assert not wrong, "\n".join(wrong)


LABELS = (
    "store.queries.submissions",
    "store.queries.reports",
    "usecases.reports",
    "usecases.export",
)
"""Where people's scores of all documents are read."""


def test_what_asks_or_fits_judges_reads_no_scores_of_people_but_by_the_seal() -> None:
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in FILES
        if any(is_in(room_of(path), room) for room in (JUDGE, "usecases.drafting", "llm"))
        and name_of(path) != "coeval/extensions/judge/queries_seal.py"  # it reads them by the seal
        for name in ours(path)
        if any(is_in(name, place) for place in LABELS)
    ]
    assert not wrong, "\n".join(wrong)
