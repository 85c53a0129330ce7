"""The document of all statistics rests on the version, the arm and the planted errors that were asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.domain import Person, Study
from coeval.errors import InputError
from coeval.stats.basis import Basis
from coeval.usecases.access import Context
from coeval.usecases.criteria_sets import establish_list
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.study_import import import_study
from tests.support.studies.scored_study import scored


@pytest.fixture
def asked(context: Context, owner: Person) -> Context:
    """Three people scored two criteria, a part of it blind; a second version keeps one of the two."""
    import_study(context, owner, scored(["Ann", "Ben", "Cid"], n_documents=8, blind=2))
    establish_list(context, owner, "demo", ["Use simple words.", "Name a source."])
    return context


def count(report: dict) -> list[tuple[str, int]]:  # type: ignore[type-arg]
    return [(one["criterion"], one["n_ratings"]) for one in report["agreement"]["per_criterion"]]


def test_version_and_the_draft_choose_the_scores(asked: Context, owner: Person) -> None:
    newest, first = get_report(asked, owner, "demo"), get_report(asked, owner, "demo", Basis(1))
    assert newest["criteria"] == ["Use simple words.", "Name a source."]
    assert len(first["criteria"]) == 2 and first["criteria"] != newest["criteria"]
    blind = get_report(asked, owner, "demo", Basis(1, unaided=True))
    for whole, part in zip(count(first), count(blind), strict=True):
        assert whole[1] > part[1] > 0
    assert blind["drafts"] == first["drafts"], "what compares arms rests on all of them"


def test_scores_from_asking_again_count_only_where_they_are_wanted(context: Context, owner: Person) -> None:
    """Half of the drafts were asked for again: the headline leaves them out, and names their correlation beside it."""
    study = scored(["Ann", "Ben", "Cid"], n_documents=8, blind=2)
    (run, *_) = study.runs
    assert not get_again(study)
    halved = [replace(draft, rung="asked again" if n % 2 else "schema") for n, draft in enumerate(run.drafts)]
    import_study(context, owner, replace(study, runs=(replace(run, drafts=tuple(halved)),)))
    usual, all_in = (
        get_report(context, owner, "demo", Basis(asked_again=wanted)) for wanted in (False, True)
    )

    def judged(report: dict[str, Any]) -> int:
        return sum(run["n_units"] for run in report["alignment"]["runs"])

    assert 0 < judged(usual) < judged(all_in)
    (note,) = [note for note in usual["notes"] if "asked again" in note]
    n = sum(draft.rung == "asked again" for draft in halved)
    assert note.startswith(
        f"{n} of {len(halved)} model scores were given only when the model was asked again."
    )
    assert "left out of every figure of the model" in note and note.count("(n = ") == 2
    assert any("They are counted." in note for note in all_in["notes"])
    assert all_in["drafts"]["arms"] == usual["drafts"]["arms"]


def get_again(study: Study) -> list[str]:
    return [draft.rung for run in study.runs for draft in run.drafts if draft.rung]


def test_what_there_is_not_is_named(asked: Context, owner: Person) -> None:
    with pytest.raises(InputError, match="has no version 9 of its criteria; there are: 1, 2"):
        get_report(asked, owner, "demo", Basis(9))


def test_the_command_takes_what_the_tab_has(asked: Context, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["stats", "--task", "demo", "--version", "1", "--unaided"]
    main([*given, "--db", str(asked.store.address)])
    title, *_ = capsys.readouterr().out.splitlines()
    assert "(criteria version 1, blind and first scores)" in title
