"""The seal: documents are split once by chance, and no label of the certificate's part is read unrecorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.seal import seal_task
from coeval.extensions.judge.seal_types import Part, Seal, hash_document, part_of_newcomer, split_documents
from coeval.store import IntegrityError
from coeval.store.queries import criteria, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.scored_study import scored


@pytest.fixture
def sealed(context: Context) -> Context:
    """Twelve documents by two systems, half of them scored blind, split in halves."""
    import_study(context, OPERATOR, scored(["Ana", "Ben", "Cem"], 12, blind=6))
    seal_task(context, OPERATOR, "demo", 0.5)
    return context


def test_every_stratum_is_split_by_the_share_and_every_document_has_the_same_chance() -> None:
    strata = {f"d{n}": ("blind" if n % 5 == 0 else "assisted",) for n in range(200)}
    chosen: Counter[str] = Counter()
    for n in range(400):
        parts = split_documents(strata, f"salt {n}", 0.3)
        proved = [name for name, part in parts.items() if part is Part.CERTIFICATE]
        assert (
            abs(len(proved) - 60) <= 1 and abs(sum(strata[name] == ("blind",) for name in proved) - 12) <= 1
        )
        chosen.update(proved)
    # 400 draws of chance .3: mean 120, standard deviation 9.2; the furthest of 200 is 4.5 of them away at most
    assert all(abs(chosen[name] - 120) < 4.5 * 9.2 for name in strata)
    assert split_documents(strata, "a", 0.3) != split_documents(strata, "b", 0.3)
    assert split_documents(strata, "a", 0.3) == split_documents(dict(reversed(strata.items())), "a", 0.3)


def test_a_task_is_sealed_once_by_an_owner_with_enough_documents(context: Context) -> None:
    import_study(context, OPERATOR, make_study(3))
    with pytest.raises(InputError, match="The share is 95%: choose from 10% to 90%"):
        seal_task(context, OPERATOR, "demo", 0.95)
    with pytest.raises(InputError, match="1 of 3 documents would be"):
        seal_task(context, OPERATOR, "demo")


def test_a_second_seal_is_refused_and_the_table_refuses_it_too(sealed: Context) -> None:
    with pytest.raises(InputError, match="A task can be sealed only once"):
        seal_task(sealed, OPERATOR, "demo", 0.3)
    with pytest.raises(IntegrityError), sealed.store.write() as db:
        task = tasks.get_task(db, "demo")
        queries_seal.record_seal(db, task.id, Seal("other", 0.3, "Olu"), {})


def test_fitting_is_given_dev_labels_and_the_others_only_with_a_record(sealed: Context) -> None:
    with sealed.store.write() as db:
        task, current = tasks.get_task(db, "demo"), criteria.get_criteria_set(db, 1)
        seal = queries_seal.get_seal(db, task.id)
        assert seal and queries_seal.count_parts(db, seal.id) == {Part.DEV: 6, Part.CERTIFICATE: 6}
        dev = queries_seal.list_dev_labels(db, task.id, current.id, seal)
        assert not queries_seal.list_openings(db, seal.id)
        first, proof = queries_seal.open_seal(db, task.id, current.id, seal, "a" * 64, "Olu")
        second, again = queries_seal.open_seal(db, task.id, current.id, seal, "b" * 64, "Olu")
        known = queries_seal.list_openings(db, seal.id)
    assert proof == again and (first.number, second.number) == (1, 2)
    assert [one.judge_hash[0] for one in known] == ["a", "b"] and {one.opened_by for one in known} == {"Olu"}
    assert {one.document for one in dev}.isdisjoint({one.document for one in proof})
    assert len({one.document for one in dev} | {one.document for one in proof}) == 12
    # 2 systems x 2 criteria x 3 people; blind documents are shared out like the others
    assert len(dev) == len(proof) == 6 * 12
    assert len({one.document for one in proof if one.arm == "blind"}) == 3


def test_what_comes_later_falls_into_the_part_of_its_document(sealed: Context) -> None:
    with sealed.store.write() as db:
        task, current = tasks.get_task(db, "demo"), criteria.get_criteria_set(db, 1)
        seal = queries_seal.get_seal(db, task.id)
        parts = {
            row["document"]: row["part"] for row in db.query("SELECT document, part FROM sealed_document")
        }
        before = len(queries_seal.list_dev_labels(db, task.id, current.id, seal))
    extra = scored(["Dan"], 12, blind=12)
    new = tuple(Instance(f"n{n}", "New?", "An answer.", f"new{n}", "a") for n in range(40))
    import_study(sealed, OPERATOR, replace(extra, instances=(*extra.instances, *new), runs=(), criteria=()))
    with sealed.store.write() as db:
        dev = queries_seal.list_dev_labels(db, task.id, current.id, seal)
        assert len(dev) == before + 6 * 4 and {parts[one.document] for one in dev} == {"dev"}
        queries_seal.add_newcomers(db, task.id, seal)
        queries_seal.add_newcomers(db, task.id, seal)
        now = {row["document"]: row["part"] for row in db.query("SELECT document, part FROM sealed_document")}
    assert parts.items() <= now.items() and len(now) == 52
    for n in range(40):
        expected = Part.CERTIFICATE if hash_document(f"new{n}", seal.salt) < 0.5 else Part.DEV
        assert now[f"new{n}"] == expected == part_of_newcomer(f"new{n}", seal.salt, 0.5)
