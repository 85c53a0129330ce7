"""Fitting never depends on a sealed label, and a certificate is the only thing that does, each time on record."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from coeval.domain import Person
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.certification import certify
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.judge_export import export_judge
from coeval.extensions.judge.learning.learn import Wishes
from coeval.extensions.judge.model.judge_file import parse_judge
from coeval.extensions.judge.seal import seal_task
from coeval.extensions.judge.seal_types import Opening
from coeval.store.queries import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.support.studies.judged_study import FAIR, OVERRATED, PEOPLE, serve_judged
from tests.support.studies.scored_study import scored

QUICK = Wishes(jury=False, deferral=False, folds=3)


@pytest.fixture
def sealed(context: Context) -> Context:
    import_study(context, OPERATOR, scored(["Ana", "Ben", "Cem"], 16, blind=16))
    seal_task(context, OPERATOR, "demo")
    return context


def openings(context: Context) -> list[Opening]:
    with context.store.read() as db:
        task = tasks.get_task(db, "demo")
        seal = queries_seal.get_seal(db, task.id)
        return queries_seal.list_openings(db, seal.id)


def test_each_opening_is_confirmed_recorded_and_said_for_ever_after(sealed: Context) -> None:
    with pytest.raises(NotFoundError, match="No judge of “demo” is fitted yet"):
        certify(sealed, OPERATOR, "demo", "opening 1")
    frozen: FrozenJudge = fit_judge(sealed, OPERATOR, "demo", wishes=QUICK)
    assert frozen.judge == "first" and frozen.dev.documents == 8 and not frozen.dev.leaned
    for typed in ("", "yes", "opening 2"):
        with pytest.raises(InputError, match="has not been opened yet, .* type “opening 1”"):
            certify(sealed, OPERATOR, "demo", typed)
    assert not openings(sealed)
    first: Certificate = certify(sealed, OPERATOR, "demo", " Opening  1 ")
    with pytest.raises(InputError, match="was opened 1 time before, .* type “opening 2”"):
        certify(sealed, OPERATOR, "demo", "opening 1")
    second: Certificate = certify(sealed, OPERATOR, "demo", "opening 2", margin=0.2)
    assert (first.opening, second.opening) == (1, 2) and first.earlier == ()
    assert [one.judge for one in second.earlier] == [frozen.hash] == [first.hashes.judge]
    assert "opening 2 of the seal" in second.findings[1] and second.margin_share == 0.2
    stored = openings(sealed)
    assert [Certificate.model_validate_json(one.certificate) for one in stored] == [first, second]
    assert first.split.used == 8 and first.people.arms == "blind" and first.people.people == 3
    assert not any(name in first.model_dump_json() for name in ("Ana", "Ben", "Cem"))


def test_what_cannot_be_certified_leaves_the_seal_closed(context: Context, owner: Person) -> None:
    import_study(context, OPERATOR, scored(["Ana", "Ben"], 8))
    with pytest.raises(NotFoundError, match="“demo” is not sealed yet"):
        fit_judge(context, owner, "demo")
    seal_task(context, owner, "demo")
    with pytest.raises(InputError, match="There is no run “other”; the runs are: “first”"):
        fit_judge(context, owner, "demo", "other")
    frozen = fit_judge(context, owner, "demo", wishes=QUICK)
    assert frozen.dev.leaned and frozen.dev.arms == "assisted"
    with pytest.raises(InputError, match="The margin is 90.0%"):
        certify(context, owner, "demo", "opening 1", margin=0.9)
    sealed = (
        "(SELECT i.id FROM instance i JOIN sealed_document p ON p.document = i.document"
        " AND p.part = 'certificate')"
    )
    with context.store.write() as db:
        db.conn.execute(f"UPDATE submission SET planted = 'score' WHERE instance IN {sealed}")
    with pytest.raises(InputError, match="Nobody has scored a sealed document.* the seal stays closed"):
        certify(context, owner, "demo", "opening 1")
    with context.store.write() as db:
        db.conn.execute("UPDATE submission SET planted = NULL")
        db.conn.execute(f"UPDATE draft SET status = 'unscored', score = NULL WHERE instance IN {sealed}")
    with pytest.raises(InputError, match="has not scored any sealed document.* the seal stays closed"):
        certify(context, owner, "demo", "opening 1")
    assert not openings(context)


@pytest.mark.slow
def test_a_known_bias_is_learned_removed_and_certified_and_the_judge_leaves_whole(context: Context) -> None:
    """The model overrates one criterion by a point. Before the seal is opened the file holds no sealed label."""
    with serve_judged(context) as (judged, _):
        seal_task(judged, OPERATOR, "judged")
        frozen = fit_judge(judged, OPERATOR, "judged")
        assert {(one.step, one.criterion) for one in frozen.tried if one.kept} == {("calibration", OVERRATED)}
        before = parse_judge(export_judge(judged, OPERATOR, "judged"))
        assert before.certificate is None and not before.labels
        certificate = certify(judged, OPERATOR, "judged", "opening 1")
        text = export_judge(judged, OPERATOR, "judged", texts=True)
    raw, own = certificate.get_rival("the judge before learning"), certificate.get_rival("this judge")
    assert raw and own and raw.gain.low and raw.gain.low > 0 and (own.rmse.value or 9) < (raw.rmse.value or 0)
    by = {one.criterion: one for one in certificate.by_criterion}
    assert by[FAIR].equivalence.equivalent and by[OVERRATED].equivalence.equivalent
    assert any(OVERRATED in step for step in certificate.steps)
    file = parse_judge(text)
    assert file.fitted == frozen.fitted and file.certificate == json.loads(certificate.model_dump_json())
    assert [one.model for one in file.judges] == ["stub-model"] and file.judges[0].templates
    assert len(file.labels) == certificate.split.lines and {one.n_people for one in file.labels} == {3}
    bias = [one.raw - one.score for one in file.labels if one.criterion == OVERRATED]
    assert 0.5 < sum(bias) / len(bias) < 1.5
    assert len(file.questions) == 2 * 24 and all(one.sample for one in file.questions)
    assert not any(name.encode() in text for name in (*PEOPLE, "no-key"))


def test_scores_from_asking_again_certify_nothing_unless_they_are_included(
    context: Context, owner: Person
) -> None:
    """A quarter of the drafts was asked for again: learning and certificate leave these scores out, and say so."""
    study = scored(["Ana", "Ben", "Cem"], 16, blind=16)
    (run, *_) = study.runs
    rungs = [replace(draft, rung="schema" if n % 4 else "asked again") for n, draft in enumerate(run.drafts)]
    import_study(context, owner, replace(study, runs=(replace(run, drafts=tuple(rungs)),)))
    seal_task(context, owner, "demo")
    usual = fit_judge(context, owner, "demo", wishes=QUICK)
    included = fit_judge(context, owner, "demo", wishes=QUICK, asked_again=True)
    assert usual.after != included.after
    left_out = certify(context, owner, "demo", "opening 1")
    counted = certify(context, owner, "demo", "opening 2", asked_again=True)
    assert left_out.split.asked_again == left_out.split.unread > 0 == counted.split.unread
    assert left_out.split.lines + left_out.split.unread == counted.split.lines
    said = f"The judge scored {left_out.split.asked_again} lines only when it was asked again."
    assert any(f"{said} No figure counts these scores" in one for one in left_out.findings)
    assert any(f"{said} All figures count these scores" in one for one in counted.findings)
