"""Coming by a link: what proves it, one record per submission, ids in one spelling, and withdrawing."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from coeval.domain import Person, Plan, Proof, Standing, StudyState, Terms
from coeval.errors import InputError, NotAllowedError
from coeval.store import Database
from coeval.store.queries.people import enrolments
from coeval.study.access import Context
from coeval.study.crowd import arriving, onboarding, overview, plans
from coeval.study.crowd.arriving import Coming, OtherBrowserError, check_link
from coeval.study.crowd.proof import ISSUER, Link
from coeval.study.importing.importing import import_study
from coeval.study.people.sessions import get_signed_in, sign_in
from tests.conftest import make_study
from tests.study.crowd.test_giving import work
from tests.support.studies.crowd_links import link, pid

HOST = "study.example"


def open_study(context: Context, owner: Person, proof: str, n_documents: int = 5) -> None:
    import_study(context, owner, make_study(n_documents))
    terms = Terms(service="prolific", code_done="DONE1", proof=proof, hourly_rate=9)
    plans.set_plan(context, owner, "demo", Plan(per_instance=2, batch=2, quota=2, terms=terms))


# ---- what proves a link ---------------------------------------------------------------------------------


def test_knowing_an_id_is_not_enough_where_the_address_has_a_secret(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.LINK)
    key = plans.get_link(context, owner, "demo")
    for wrong in ("", "x" * 22, key[:-1]):
        with pytest.raises(NotAllowedError, match="not one that the study gave out"):
            arriving.look(context, "demo", link(1), key=wrong)
    for seal in ("", "forged"):
        with pytest.raises(NotAllowedError, match="not one that the study gave out"):
            arriving.arrive(context, "demo", link(1, seal=seal))
    found = arriving.look(context, "demo", link(1), key=key)
    # a seal is good for the ids it was given for, and for no others
    with pytest.raises(NotAllowedError, match="not one that the study gave out"):
        arriving.arrive(context, "demo", link(2, seal=found.link.seal))
    person, _ = arriving.arrive(context, "demo", found.link)
    again = arriving.look(context, "demo", link(1), key=key)
    assert again.coming is Coming.AGAIN  # from another browser, by the proved link
    assert arriving.arrive(context, "demo", again.link)[0] == person
    plans.renew_link(context, owner, "demo")
    with pytest.raises(NotAllowedError, match="not one that the study gave out"):
        arriving.look(context, "demo", link(1), key=key)


def test_without_proof_one_comes_back_by_the_same_browser_or_a_word(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.NONE)
    person, token = arriving.arrive(context, "demo", link(1, word="Blue horse"))
    assert arriving.look(context, "demo", link(1)).coming is Coming.ELSEWHERE
    assert arriving.look(context, "demo", link(1), old_token=token).coming is Coming.SAME
    with pytest.raises(OtherBrowserError):
        arriving.arrive(context, "demo", link(1))
    with pytest.raises(OtherBrowserError):
        arriving.arrive(context, "demo", link(1, word="red horse"))
    assert arriving.arrive(context, "demo", link(1, word=" blue  HORSE "))[0] == person
    for _ in range(3):
        with pytest.raises(OtherBrowserError):
            arriving.arrive(context, "demo", link(1, word="guess"))
    with pytest.raises(NotAllowedError, match="tried too often"):
        arriving.arrive(context, "demo", link(1, word="Blue horse"))


@pytest.fixture
def signer(context: Context, owner: Person) -> Iterator[Any]:
    """Prolific's keys on a port of this machine; gives the context and a function that signs claims."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    body = json.dumps({"keys": [public | {"kid": "k1", "alg": "RS256", "use": "sig"}]}).encode()

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Keys)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    open_study(context, owner, Proof.TOKEN)
    url = f"http://127.0.0.1:{server.server_address[1]}/jwks.json"
    yield replace(context, settings=replace(context.settings, prolific_keys=url)), partial(sign, key)
    server.shutdown()


def sign(key: Any, *, kid: str = "k1", number: int = 1, **claims: Any) -> str:
    ids = {"PROLIFIC_PID": pid(number), "STUDY_ID": "s1", "SESSION_ID": f"a{number}", "workspace_id": "w"}
    whole = {
        "iss": ISSUER,
        "aud": f"https://{HOST}/s/demo",
        "exp": time.time() + 600,
        "prolific": ids,
    } | claims
    return jwt.encode(whole, key, algorithm="RS256", headers={"kid": kid})


def test_prolific_s_secure_link_says_who_comes(signer: Any) -> None:
    context, make = signer
    anybody = Link(
        "prolific", pid(9), "s1", "a9"
    )  # what the address says beside the token counts for nothing
    found = arriving.look(context, "demo", anybody, token=make(), host=HOST)
    assert (found.link.worker, found.link.session) == (pid(1), "a1")
    person, _ = arriving.arrive(context, "demo", found.link)
    assert onboarding.get_visit(context, person, "demo").standing is not None
    assert arriving.look(context, "demo", anybody, token=make(aud=HOST), host=HOST).coming is Coming.AGAIN


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"exp": 1_000_000_000}, "has run out"),
        ({"iss": "https://evil.example"}, "not one that the study gave out"),
        ({"aud": "https://evil.example/s/demo"}, "not one that the study gave out"),
        ({"prolific": "worker"}, "not one that the study gave out"),
        ({"kid": "k2"}, "not one that the study gave out"),
    ],
)
def test_a_token_of_others_or_of_another_time_is_refused(
    signer: Any, claims: dict[str, Any], says: str
) -> None:
    context, make = signer
    with pytest.raises(NotAllowedError, match=says):
        arriving.look(context, "demo", link(1), token=make(**claims), host=HOST)


def test_a_token_signed_by_somebody_else_is_refused(signer: Any) -> None:
    context, _ = signer
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    unsigned = jwt.encode({"iss": ISSUER, "aud": HOST, "exp": time.time() + 600}, None, algorithm="none")
    for token in (sign(other), unsigned, "no.token.this", ""):
        with pytest.raises(NotAllowedError, match="not one that the study gave out"):
            arriving.look(context, "demo", link(1), token=token, host=HOST)


# ---- one record per submission ----------------------------------------------------------------------------


def test_who_finished_one_study_of_the_service_works_and_is_paid_for_a_second(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE)
    person, token = arriving.arrive(context, "demo", link(1, study="one", session="first"))
    onboarding.begin(context, person, "demo")
    assert len(work(context, person)) == 2  # the quota
    assert onboarding.get_visit(context, person, "demo").code == "DONE1"
    _, token = arriving.arrive(context, "demo", link(1, study="two", session="second"), old_token=token)
    visit = onboarding.get_visit(context, person, "demo")
    assert visit.standing and visit.standing.state is Standing.ADMITTED and visit.code == ""
    assert len(work(context, person)) == 2
    rows = list(csv.DictReader(io.StringIO(overview.export_participants(context, owner, "demo"))))
    told = [(row["study"], row["session"], row["finished"], row["code"]) for row in rows]
    assert told == [("one", "first", "2", "DONE1"), ("two", "second", "2", "DONE1")]
    assert len({row["person"] for row in rows}) == 1
    # the same coming again is the same record
    arriving.arrive(context, "demo", link(1, study="two", session="second"), old_token=token)
    assert len(overview.get_overview(context, owner, "demo").people) == 2


def test_a_session_is_one_person_s(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.NONE)
    arriving.arrive(context, "demo", link(1, session="a1"))
    with pytest.raises(NotAllowedError, match="somebody else's"):
        arriving.arrive(context, "demo", link(2, session="a1"))


def test_ids_have_one_spelling_and_the_form_of_the_service() -> None:
    one = check_link(Link("prolific", " 5F0C1E2D3B4A596877665544 ", "S1", "A1"))
    assert (one.worker, one.study, one.session) == ("5f0c1e2d3b4a596877665544", "s1", "a1")
    assert check_link(Link("mturk", "a1b2c3d4e5f6g7")).worker == "A1B2C3D4E5F6G7"
    for service, worker in (("prolific", "testtest"), ("prolific", "a" * 25), ("mturk", "testtest")):
        with pytest.raises(InputError, match="names no participant"):
            check_link(Link(service, worker))


def read_everything(db: Database) -> dict[str, list[dict[str, Any]]]:
    return {table: list(db.query(f"SELECT * FROM {table}")) for table in db.table_names()}


def test_one_of_the_team_looks_and_loses_no_session(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.NONE)
    _, token = sign_in(context, owner.name)
    with context.store.read() as db:
        before = read_everything(db)
    assert arriving.look(context, "demo", link(1), old_token=token).coming is Coming.TEAM
    with pytest.raises(NotAllowedError, match="private window"):
        arriving.arrive(context, "demo", link(1), old_token=token)
    with context.store.read() as db:
        assert read_everything(db) == before
    assert get_signed_in(context, token) == owner


# ---- withdrawing, and a study that is full ------------------------------------------------------------------


def test_withdrawing_deletes_what_was_saved_and_gives_the_places_to_others(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE, n_documents=1)
    person, _ = arriving.arrive(context, "demo", link(1))
    onboarding.begin(context, person, "demo")
    work(context, person)
    onboarding.withdraw(context, person, "demo")
    with context.store.read() as db:
        for table in ("submission", "submission_row", "assignment", "mark", "first_score"):
            assert db.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table
    visit = onboarding.get_visit(context, person, "demo")
    assert visit.situation == "removed"
    for number in (2, 3):
        other, _ = arriving.arrive(context, "demo", link(number))
        onboarding.begin(context, other, "demo")
        assert len(work(context, other)) == 2


def test_a_study_pauses_by_itself_when_full_and_runs_again_where_work_is_rejected(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE, n_documents=1)  # two instances by two people
    people = []
    for number in (1, 2):
        person, _ = arriving.arrive(context, "demo", link(number))
        onboarding.begin(context, person, "demo")
        work(context, person)
        people.append(person)
    plan = plans.get_plan(context, owner, "demo")
    assert plan and (plan.state, plan.reason) == (StudyState.PAUSED, "full")
    assert onboarding.get_visit(context, people[1], "demo").code == "DONE1"
    assert arriving.look(context, "demo", link(3)).coming is Coming.SHUT
    with pytest.raises(NotAllowedError, match="full"):
        arriving.arrive(context, "demo", link(3))
    plans.reject(context, owner, "demo", people[0].name, comment="did not read")
    plan = plans.get_plan(context, owner, "demo")
    assert plan and (plan.state, plan.reason) == (StudyState.RUNNING, "")
    arriving.arrive(context, "demo", link(3))


def test_turning_review_off_admits_who_waits(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.NONE)
    person, _ = arriving.arrive(context, "demo", link(1))
    with context.store.write() as db:
        enrolments.record_step(db, 1, person.id, Standing.REVIEW, "exam")
    plan = plans.get_plan(context, owner, "demo")
    assert plan
    on = replace(plan, terms=replace(plan.terms, review=True))
    assert plans.set_plan(context, owner, "demo", on).admitted == 0
    assert plans.set_plan(context, owner, "demo", plan).admitted == 1
    assert onboarding.get_visit(context, person, "demo").situation == "work"
