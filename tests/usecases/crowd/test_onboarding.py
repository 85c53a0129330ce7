"""From a crowd service's link to the code: preview, consent, guidelines, exam, review, resume, submissions."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from coeval.domain import Action, Person, Plan, Standing, StudyState, Terms
from coeval.errors import InputError, NotAllowedError
from coeval.rules.arms import draw_order
from coeval.store.queries import crowd_studies, enrolments, tasks
from coeval.ui.crowd_pages.participant_views import show_attempts, show_visit
from coeval.ui.run import build_app
from coeval.ui.server.identity import COOKIE
from coeval.usecases.access import Context
from coeval.usecases.crowd import entry, exams, onboarding, overview, plans
from coeval.usecases.scrutiny.steps import Where, get_step, submit
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.crowd_links import link, pid
from tests.usecases.crowd.test_assignment import answer

TERMS = Terms(
    consent="We ask for <b>your</b> consent.",
    guidelines="# Page one\n\nRead.\n---\nPage two.",
    service="prolific",
    code_done="DONE1",
    code_screened="OUT1",
    code_declined="NO1",
    hourly_rate=9.0,
)


@pytest.fixture
def study(context: Context, owner: Person) -> Context:
    """The study "demo" of four instances with an exam "exam" of four items: score 2, and line 3 to go."""
    made = make_study()
    import_study(context, owner, made)
    exam = replace(made, task=replace(made.task, slug="exam"), instances=made.instances[:2])
    drafts = tuple(d for d in made.runs[0].drafts if d.instance in ("1a", "1b"))
    import_study(context, owner, replace(exam, runs=(replace(made.runs[0], drafts=drafts),)))
    keys = "instance,criterion,accepted,must,explanation\n" + "".join(
        f"{instance},{criterion},2 3,3,Line 3 is not in the text.\n"
        for instance in ("1a", "1b")
        for criterion in (1, 2)
    )
    exams.set_keys(context, owner, "exam", keys)
    plans.set_plan(context, owner, "demo", Plan(per_instance=2, batch=2, quota=4, terms=TERMS), exam="exam")
    return context


def take_exam(context: Context, person: Person, score: float, action: Action = Action.DELETE) -> None:
    """Answer all four items, or change the answers given before."""
    for position in (1, 2):
        for number in range(2):
            step = get_step(context, person, "exam", Where(position=position))
            step = get_step(
                context, person, "exam", Where(position=position, criterion=step.criteria[number].id)
            )
            saved = step.saved.revision if step.saved else 0
            submit(context, person, "exam", replace(answer(step, score, action), revision=saved))


def state(context: Context, person: Person) -> Standing:
    standing = onboarding.get_visit(context, person, "demo").standing
    return standing.state


def come(context: Context, number: int = 1) -> Person:
    person, _ = entry.arrive(context, "demo", link(number))
    return person


def test_an_exam_with_feedback_and_a_second_try(study: Context) -> None:
    person = come(study)
    onboarding.begin(study, person, "demo")
    with pytest.raises(NotAllowedError):
        get_step(study, person, "demo")  # no work before the exam
    take_exam(study, person, 4, Action.APPROVE)
    tried = onboarding.hand_in(study, person, "demo", 1)
    assert (tried.right, tried.items, tried.passed) == (0, 4, False)
    assert tried.detail[0].missed == (3,) and tried.detail[0].given == 4
    assert state(study, person) is Standing.EXAM
    page = show_visit(onboarding.get_visit(study, person, "demo"))
    assert not page.forms and "change an answer" in str(page.body)
    with pytest.raises(InputError, match="those of your last try"):
        onboarding.hand_in(study, person, "demo", 2)
    take_exam(study, person, 3)
    assert show_visit(onboarding.get_visit(study, person, "demo")).forms
    again = onboarding.hand_in(study, person, "demo", 2)
    assert (again.attempt, again.right, again.passed) == (2, 4, True)
    assert state(study, person) is Standing.ADMITTED and get_step(study, person, "demo").instance
    with pytest.raises(NotAllowedError):
        get_step(study, person, "exam")  # the exam is over


def test_the_result_of_an_exam_numbers_its_items_as_its_screens_do(study: Context) -> None:
    person = come(study)
    with study.store.write() as db:
        exam = tasks.get_task(db, "exam")
        listed = [key.instance for key in crowd_studies.list_keys(db, exam.id)][::2]
        seed = next(seed for seed in map(str, range(20)) if draw_order(seed, person.id, listed) != listed)
        db.conn.execute("UPDATE task SET seed = ? WHERE id = ?", [seed, exam.id])
    onboarding.begin(study, person, "demo")
    take_exam(study, person, 4, Action.APPROVE)
    tried = onboarding.hand_in(study, person, "demo", 1)
    screens = [get_step(study, person, "exam", Where(position=place)).instance for place in (1, 2)]
    order = [screen.external_id for screen in screens if screen]
    assert [graded.instance for graded in tried.detail] == [name for name in order for _ in (1, 2)]
    lines = show_attempts((tried,))[1]["children"][1]["children"]
    assert [line["children"][0]["children"] for line in lines] == [["1"], ["1"], ["2"], ["2"]]


def test_a_second_try_brings_new_items_and_the_key_is_kept_until_the_last(
    study: Context, owner: Person
) -> None:
    plan = plans.get_plan(study, owner, "demo")
    drawn = replace(plan, terms=replace(plan.terms, exam_items=1))
    plans.set_plan(study, owner, "demo", drawn, exam="exam")
    person, token = entry.arrive(study, "demo", link(1))
    onboarding.begin(study, person, "demo")
    browser = TestClient(build_app(study), cookies={COOKIE: token})
    items = []
    for _ in range(2):
        step = get_step(study, person, "exam")
        assert step.total == 1 and step.instance
        items.append(step.instance.id)
        for criterion in step.criteria:
            where = Where(position=1, criterion=criterion.id)
            submit(study, person, "exam", answer(get_step(study, person, "exam", where), 5))
        assert "2 of 2 items confirmed" in browser.get("/s/demo").text
        browser.post("/s/demo/hand-in", data={"attempt": len(items)})
        page = browser.get("/s/demo").text
        assert "0 of 2 right" in page and ("Line 3 is not in the text" in page) is (len(items) == 2)
        assert ("2 or 3" in page) is (len(items) == 2)
    assert len(set(items)) == 2 and "OUT1" in page


def test_the_last_try_failed_screens_out_with_its_code(study: Context, owner: Person) -> None:
    person = come(study)
    onboarding.begin(study, person, "demo")
    for attempt in (1, 2):
        take_exam(study, person, 3 + attempt, Action.APPROVE)
        onboarding.hand_in(study, person, "demo", attempt)
    assert state(study, person) is Standing.SCREENED_OUT
    with pytest.raises(NotAllowedError):
        onboarding.hand_in(study, person, "demo", 3)
    (one,) = overview.get_overview(study, owner, "demo").people
    assert (one.advice.suggestion, one.advice.code) == ("screen out", "OUT1")
    assert "0 of 4 right" in one.advice.evidence


def test_an_owner_reads_and_decides(study: Context, owner: Person) -> None:
    plan = plans.get_plan(study, owner, "demo")
    plans.set_plan(study, owner, "demo", replace(plan, terms=replace(plan.terms, review=True)), exam="exam")
    good, bad = come(study, 1), come(study, 2)
    for person in (good, bad):
        onboarding.begin(study, person, "demo")
        take_exam(study, person, 3)
        onboarding.hand_in(study, person, "demo", 1)
        assert state(study, person) is Standing.REVIEW
    waiting = overview.list_reviews(study, owner, "demo")
    assert [one.name for one, _ in waiting] == [good.name, bad.name]
    assert waiting[0][1] and waiting[0][1].detail[0].right
    plans.decide(study, owner, "demo", [good.name], True)
    plans.decide(study, owner, "demo", [bad.name], False, comment="copied text")
    assert (state(study, good), state(study, bad)) == (Standing.ADMITTED, Standing.SCREENED_OUT)
    with study.store.read() as db:
        last = enrolments.list_steps(db, 1, bad.id)[-1]
    assert (last.actor, last.note) == ("Olu", "copied text")
    with pytest.raises(InputError, match="is not waiting for a decision"):
        plans.decide(study, owner, "demo", [good.name], True)


def test_submissions_as_csv_with_evidence_and_pseudonyms(study: Context, owner: Person) -> None:
    person = come(study, 7)
    onboarding.begin(study, person, "demo")
    take_exam(study, person, 3)
    onboarding.hand_in(study, person, "demo", 1)
    for _ in range(8):  # four instances by two criteria; a save that is lost must not make this endless
        submit(study, person, "demo", answer(get_step(study, person, "demo")))
    assert get_step(study, person, "demo").instance is None
    with study.store.write() as db:
        db.conn.execute("UPDATE submission SET active_ms = 90000")  # 8 saves of the study: 12 minutes
    text = overview.export_participants(study, owner, "demo")
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["person"] == person.name and pid(7) not in text
    assert (row["suggestion"], row["code"], row["finished"], row["session"]) == (
        "approve",
        "DONE1",
        "4",
        "a7",
    )
    # 12 saves of 90 s each, four of them in the exam: 18 active minutes
    assert (row["active_minutes"], row["currency"]) == ("18.0", "GBP")
    # pay is for the time by the clock, which the test does not spend
    assert float(row["pay"]) == pytest.approx(float(row["minutes"]) / 60 * 9, abs=0.01)
    for part in ("4 instances finished", "no attention checks", "every line kept in 100% of 8 evaluations"):
        assert part in row["evidence"]
    (row,) = csv.DictReader(io.StringIO(overview.export_participants(study, owner, "demo", with_ids=True)))
    assert (row["service"], row["service_id"]) == ("prolific", pid(7))


def test_nobody_new_while_paused_and_those_inside_go_on(study: Context, owner: Person) -> None:
    person, token = entry.arrive(study, "demo", link(1))
    plans.set_state(study, owner, "demo", StudyState.PAUSED)
    with pytest.raises(NotAllowedError, match="not accepting new people"):
        come(study, 2)
    assert entry.arrive(study, "demo", link(1), old_token=token)[0] == person


def test_a_member_of_the_team_takes_part_by_signing_in(study: Context, owner: Person) -> None:
    plans.set_plan(study, owner, "demo", Plan(terms=replace(TERMS, service="")))
    browser = TestClient(build_app(study), follow_redirects=False)
    assert browser.get("/s/demo").headers["location"] == "../signin?next=s/demo"
    browser.post("/signin", data={"name": "Ana", "next": "s/demo"})
    assert "I agree to take part" in browser.get("/s/demo").text
    assert browser.post("/s/demo/consent").status_code == 303
    assert browser.post("/s/demo/begin").status_code == 303
    assert browser.post("/api/scrutiny/demo/step").json()["instance"]


@pytest.mark.slow
def test_closing_gives_the_code_to_whoever_did_something(study: Context, owner: Person) -> None:
    terms = replace(TERMS, enough=1)
    plans.set_plan(study, owner, "demo", Plan(per_instance=2, batch=1, quota=4, terms=terms))
    browsers = [TestClient(build_app(study), follow_redirects=False) for _ in range(2)]
    for number, browser in enumerate(browsers):
        browser.post("/s/demo/consent", data={"worker": pid(number)})
        browser.post("/s/demo/begin")
    with study.store.read() as db:
        worker = next(p for p in crowd_studies.list_participants(db, 1) if p.service_id == pid(0))
    person = Person(worker.name, id=worker.id)
    for _ in range(2):
        submit(study, person, "demo", answer(get_step(study, person, "demo")))
    get_step(study, person, "demo")  # the next batch; the first is finished
    plans.set_state(study, owner, "demo", StudyState.CLOSED)
    done, idle = (browser.get("/s/demo").text for browser in browsers)
    assert "is closed" in done and "DONE1" in done
    assert "is closed" in idle and "DONE1" not in idle
