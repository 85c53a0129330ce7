"""What tests of crowd studies share: a study of one criterion, links as Prolific makes them, and terms in Arabic."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Proof, Terms
from coeval.store.queries import crowd_studies, tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd.link_signing import Link, seal_link
from coeval.usecases.study_import import import_study
from tests.conftest import make_study

ARABIC_TERMS = Terms(
    consent="نحتفظ بما تقرره.",
    guidelines="# القواعد\n\nاقرأ كل نص قبل أن تقرر.",
    service="prolific",
    code_done="DONE1",
    code_declined="NO1",
    proof=Proof.LINK,
)


def pid(number: int) -> str:
    """An id of the form that Prolific gives its people."""
    return f"{number:024x}"


def link(number: int, *, study: str = "s1", session: str = "", seal: str = "", code: str = "") -> Link:
    """The link of one person, by a session of their own unless one is named."""
    return Link("prolific", pid(number), study, session or f"a{number}", seal, code)


def sealed(context: Context, slug: str, one: Link) -> Link:
    """The same link as the study's page seals it once it was proved as the study asks."""
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        assert task
        plan = crowd_studies.get_plan(db, task.id)
        assert plan
        terms = plan.terms
        return replace(one, seal=seal_link(tasks.get_seed(db, task.id), one, terms.proof, terms.link_version))


def query(number: int, *, study: str = "s1", session: str = "") -> dict[str, str]:
    """The same as the address that Prolific fills in."""
    one = link(number, study=study, session=session)
    return {"PROLIFIC_PID": one.worker, "STUDY_ID": one.study, "SESSION_ID": one.session}


def form(number: int, *, study: str = "s1", session: str = "") -> dict[str, str]:
    """The same as the consent form sends it."""
    one = link(number, study=study, session=session)
    return {"worker": one.worker, "study": one.study, "session": one.session}


def import_one_criterion(context: Context, slug: str, n_documents: int = 2) -> None:
    """A study of one criterion, by two systems for each document, all drafted."""
    study = make_study(n_documents)
    one = study.criteria[:1]
    drafts = tuple(draft for draft in study.runs[0].drafts if draft.criterion == one[0].text)
    run = replace(study.runs[0], drafts=drafts)
    task = replace(study.task, slug=slug, name=slug)
    import_study(context, OPERATOR, replace(study, task=task, criteria=one, runs=(run,)))
