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
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.store import Database
from coeval.usecases.access import Context
from coeval.usecases.crowd import entry, onboarding, overview, plans
from coeval.usecases.crowd.entry import Coming, OtherBrowserError, check_link
from coeval.usecases.crowd.link_signing import (
    ISSUER,
    TRIES,
    Link,
    build_pass,
    ensure_code,
    forget_browsers,
)
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import get_signed_in, sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.crowd_links import link, pid, sealed
from tests.usecases.crowd.test_assignment import work

HOST = "study.example"
TERMS_OF_LINK = Terms(service="prolific", code_done="DONE1", proof=Proof.LINK)


def open_study(context: Context, owner: Person, proof: str, n_documents: int = 5) -> None:
    import_study(context, owner, make_study(n_documents))
    terms = Terms(service="prolific", code_done="DONE1", proof=proof, hourly_rate=9)
    plans.set_plan(context, owner, "demo", Plan(per_instance=2, batch=2, quota=2, terms=terms))


# ---- what proves a link ---------------------------------------------------------------------------------


def test_knowing_an_id_is_not_enough_where_the_address_has_a_secret(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.LINK)
    key = plans.get_link(context, owner, "demo")
    for wrong in ("", "x" * 22, key[:-1]):
        with pytest.raises(NotAllowedError, match="did not create this link"):
            entry.look(context, "demo", link(1), key=wrong)
    for seal in ("", "forged"):
        with pytest.raises(NotAllowedError, match="did not create this link"):
            entry.arrive(context, "demo", link(1, seal=seal))
    found = entry.look(context, "demo", link(1), key=key)
    # a seal is good for the ids it was given for, and for no others
    with pytest.raises(NotAllowedError, match="did not create this link"):
        entry.arrive(context, "demo", link(2, seal=found.link.seal))
    person, token = entry.arrive(context, "demo", found.link)
    again = entry.look(context, "demo", link(1), key=key)
    assert again.coming is Coming.ELSEWHERE  # every worker of the study has the secret
    with pytest.raises(OtherBrowserError):
        entry.arrive(context, "demo", again.link)
    assert entry.arrive(context, "demo", again.link, old_token=token)[0] == person
    plans.renew_link(context, owner, "demo")
    with pytest.raises(NotAllowedError, match="did not create this link"):
        entry.look(context, "demo", link(1), key=key)


@pytest.mark.parametrize("proof", [Proof.NONE, Proof.LINK])
def test_one_comes_back_by_the_same_browser_or_the_return_code(
    context: Context, owner: Person, proof: str
) -> None:
    open_study(context, owner, proof)
    key = plans.get_link(context, owner, "demo")
    first = sealed(context, "demo", link(1))
    person, token = entry.arrive(context, "demo", first)
    code = ensure_code(context, person)
    assert len(code) == 14 and ensure_code(context, person) == ""  # once
    kept = build_pass(context, person)
    assert entry.look(context, "demo", link(1), key=key).coming is Coming.ELSEWHERE
    assert entry.look(context, "demo", link(1), key=key, old_token=token).coming is Coming.SAME
    assert entry.look(context, "demo", link(1), key=key, worker_pass=kept).coming is Coming.AGAIN
    assert entry.arrive(context, "demo", first, worker_pass=kept)[0] == person
    for wrong in ("", "ABCD-EFGH-JKMN"):
        with pytest.raises(OtherBrowserError):
            entry.arrive(context, "demo", replace(first, code=wrong))
    for forged in (f"{person.id}.", kept[:-1], kept.replace(str(person.id), "999", 1)):
        with pytest.raises(OtherBrowserError):
            entry.arrive(context, "demo", first, worker_pass=forged)
    assert entry.arrive(context, "demo", replace(first, code=code.lower()))[0] == person
    for _ in range(4):
        with pytest.raises(OtherBrowserError):
            entry.arrive(context, "demo", replace(first, code="guess"))
    with pytest.raises(NotAllowedError, match="Too many tries"):
        entry.arrive(context, "demo", replace(first, code=code))
    # from elsewhere the person is not kept out by another's guesses
    assert entry.arrive(context, "demo", replace(first, code=code), address="10.0.0.9")[0] == person


def test_who_proves_nothing_waits_for_an_owner_who_ends_the_other_browser(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.LINK)
    first = sealed(context, "demo", link(1))
    person, squatter = entry.arrive(context, "demo", first)
    old_code = ensure_code(context, person)
    kept = build_pass(context, person)
    number, waiting = entry.ask_to_return(context, "demo", first)
    with pytest.raises(OtherBrowserError, match="not let you in yet"):
        entry.arrive(context, "demo", first, waiting=waiting)
    (asked,) = plans.list_returning(context, owner, "demo")
    assert (asked.number, asked.name) == (number, person.name)
    plans.decide_return(context, owner, "demo", asked.id, True)
    assert plans.list_returning(context, owner, "demo") == []
    with pytest.raises(OtherBrowserError):  # another browser's request is not this one's
        entry.arrive(context, "demo", first, waiting="other")
    assert entry.arrive(context, "demo", first, waiting=waiting)[0] == person
    assert get_signed_in(context, squatter) is None
    new_code = ensure_code(context, person)
    assert new_code and new_code != old_code
    for way in ({"worker_pass": kept}, {"waiting": waiting}):  # an admission works once
        with pytest.raises(OtherBrowserError):
            entry.arrive(context, "demo", first, **way)
    with pytest.raises(OtherBrowserError):
        entry.arrive(context, "demo", replace(first, code=old_code))
    _, turned_away = entry.ask_to_return(context, "demo", first)
    (again,) = plans.list_returning(context, owner, "demo")
    plans.decide_return(context, owner, "demo", again.id, False)
    with pytest.raises(OtherBrowserError):
        entry.arrive(context, "demo", first, waiting=turned_away)
    with pytest.raises(NotFoundError, match="already decided"):
        plans.decide_return(context, owner, "demo", again.id, True)
    for _ in range(3):
        entry.ask_to_return(context, "demo", first)
    with pytest.raises(NotAllowedError, match="Other requests"):
        entry.ask_to_return(context, "demo", first)


def test_a_second_session_of_the_same_study_gives_nothing_and_is_shown(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.LINK)
    person, token = entry.arrive(context, "demo", sealed(context, "demo", link(1)))
    onboarding.begin(context, person, "demo")
    assert len(work(context, person)) == 2
    assert onboarding.get_visit(context, person, "demo").code == "DONE1"
    second = sealed(context, "demo", link(1, session="second"))
    entry.arrive(context, "demo", second, old_token=token)
    assert work(context, person) == []
    (row,) = overview.get_overview(context, owner, "demo").people
    assert row.participant.session == "a1" and row.participant.repeats == ("second",)
    assert row.advice.suggestion == "look" and "second session of the same study" in row.advice.evidence


def test_an_invented_worker_holds_one_instance_until_the_first_save(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.LINK)
    plans.set_plan(context, owner, "demo", Plan(per_instance=2, batch=4, quota=8, terms=TERMS_OF_LINK))
    person, _ = entry.arrive(context, "demo", sealed(context, "demo", link(1)))
    onboarding.begin(context, person, "demo")
    assert get_step(context, person, "demo").total == 1
    work(context, person, limit=1)
    assert get_step(context, person, "demo").total == 1 + 4


def test_a_network_brings_no_more_people_who_have_begun_nothing(
    context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coeval.usecases.crowd.entry.IDLE", 2)
    open_study(context, owner, Proof.LINK)
    homes = ("2001:db8::1", "2001:db8::2", "2001:db8::3")
    came = []
    for number, home in enumerate(homes[:2], 1):
        came.append(entry.arrive(context, "demo", sealed(context, "demo", link(number)), address=home)[0])
    with pytest.raises(NotAllowedError, match="have not begun"):
        entry.arrive(context, "demo", sealed(context, "demo", link(3)), address=homes[2])
    entry.arrive(context, "demo", sealed(context, "demo", link(4)), address="10.0.0.1")
    onboarding.begin(context, came[0], "demo")
    work(context, came[0], limit=1)
    entry.arrive(context, "demo", sealed(context, "demo", link(3)), address=homes[2])


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
    found = entry.look(context, "demo", anybody, token=make(), host=HOST)
    assert (found.link.worker, found.link.session) == (pid(1), "a1")
    person, _ = entry.arrive(context, "demo", found.link)
    assert onboarding.get_visit(context, person, "demo").standing is not None
    assert entry.look(context, "demo", anybody, token=make(aud=HOST), host=HOST).coming is Coming.AGAIN


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"exp": 1_000_000_000}, "has expired"),
        ({"iss": "https://evil.example"}, "did not create this link"),
        ({"aud": "https://evil.example/s/demo"}, "did not create this link"),
        ({"aud": f"http://{HOST}/s/demo"}, "did not create this link"),
        ({"aud": f"https://{HOST}:8443/s/demo"}, "did not create this link"),
        ({"prolific": "worker"}, "did not create this link"),
        ({"kid": "k2"}, "did not create this link"),
    ],
)
def test_a_token_of_others_or_of_another_time_is_refused(
    signer: Any, claims: dict[str, Any], says: str
) -> None:
    context, make = signer
    with pytest.raises(NotAllowedError, match=says):
        entry.look(context, "demo", link(1), token=make(**claims), host=HOST)


def test_a_token_signed_by_somebody_else_is_refused(signer: Any) -> None:
    context, _ = signer
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    unsigned = jwt.encode({"iss": ISSUER, "aud": HOST, "exp": time.time() + 600}, None, algorithm="none")
    for token in (sign(other), unsigned, "no.token.this", ""):
        with pytest.raises(NotAllowedError, match="did not create this link"):
            entry.look(context, "demo", link(1), token=token, host=HOST)


def test_a_consent_form_of_an_old_address_is_void(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.LINK)
    form = entry.look(context, "demo", link(1), key=plans.get_link(context, owner, "demo")).link
    plans.renew_link(context, owner, "demo")
    with pytest.raises(NotAllowedError, match="did not create this link"):
        entry.arrive(context, "demo", form)


def test_wrong_codes_of_strangers_keep_nobody_from_withdrawing(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.NONE)
    person, _ = entry.arrive(context, "demo", link(1))
    code = ensure_code(context, person)
    for number in range(TRIES["worker"] + 1):
        with pytest.raises(NotAllowedError):
            entry.arrive(context, "demo", link(1, code="WRONG"), address=f"192.0.2.{number // 2}")
    with pytest.raises(NotAllowedError, match="wait 15 minutes"):
        entry.arrive(context, "demo", link(1, code=code), address="198.51.100.1")
    onboarding.withdraw(context, person, "demo", code)
    assert onboarding.get_visit(context, person, "demo").situation == "withdrawn"


# ---- one record per submission ----------------------------------------------------------------------------


def test_who_finished_one_study_of_the_service_works_and_is_paid_for_a_second(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE)
    person, token = entry.arrive(context, "demo", link(1, study="one", session="first"))
    onboarding.begin(context, person, "demo")
    assert len(work(context, person)) == 2  # the quota
    assert onboarding.get_visit(context, person, "demo").code == "DONE1"
    _, token = entry.arrive(context, "demo", link(1, study="two", session="second"), old_token=token)
    visit = onboarding.get_visit(context, person, "demo")
    assert visit.standing and visit.standing.state is Standing.ADMITTED and visit.code == ""
    assert len(work(context, person)) == 2
    rows = list(csv.DictReader(io.StringIO(overview.export_participants(context, owner, "demo"))))
    told = [(row["study"], row["session"], row["finished"], row["code"]) for row in rows]
    assert told == [("one", "first", "2", "DONE1"), ("two", "second", "2", "DONE1")]
    assert len({row["person"] for row in rows}) == 1
    # the same coming again is the same record
    entry.arrive(context, "demo", link(1, study="two", session="second"), old_token=token)
    assert len(overview.get_overview(context, owner, "demo").people) == 2


def test_ids_have_one_spelling_and_the_form_of_the_service() -> None:
    one = check_link(Link("prolific", " 5F0C1E2D3B4A596877665544 ", "S1", "A1"))
    assert (one.worker, one.study, one.session) == ("5f0c1e2d3b4a596877665544", "s1", "a1")
    assert check_link(Link("mturk", "a1b2c3d4e5f6g7")).worker == "A1B2C3D4E5F6G7"
    for service, worker in (("prolific", "testtest"), ("prolific", "a" * 25), ("mturk", "testtest")):
        with pytest.raises(InputError, match=f"(?i:{worker}).*is not valid. It must be: "):
            check_link(Link(service, worker))


def read_everything(db: Database) -> dict[str, list[dict[str, Any]]]:
    return {table: list(db.query(f"SELECT * FROM {table}")) for table in db.table_names()}


def test_one_of_the_team_looks_and_loses_no_session(context: Context, owner: Person) -> None:
    open_study(context, owner, Proof.NONE)
    _, token = sign_in(context, owner.name)
    with context.store.read() as db:
        before = read_everything(db)
    assert entry.look(context, "demo", link(1), old_token=token).coming is Coming.TEAM
    with pytest.raises(NotAllowedError, match="private window"):
        entry.arrive(context, "demo", link(1), old_token=token)
    with context.store.read() as db:
        assert read_everything(db) == before
    assert get_signed_in(context, token) == owner


# ---- withdrawing, and a study that is full ------------------------------------------------------------------


def count_work(context: Context) -> dict[str, int]:
    tables = ("submission", "submission_row", "assignment", "mark", "first_score", "exam_attempt")
    with context.store.read() as db:
        return {table: db.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def test_withdrawing_takes_the_work_out_and_gives_the_places_to_others(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE, n_documents=1)
    person, _ = entry.arrive(context, "demo", link(1))
    code = ensure_code(context, person)
    onboarding.begin(context, person, "demo")
    work(context, person)
    for wrong in ("", "ABCD-EFGH-JKMN"):
        with pytest.raises(NotAllowedError, match="not your return code"):
            onboarding.withdraw(context, person, "demo", wrong)
    onboarding.withdraw(context, person, "demo", code)
    assert set(count_work(context).values()) == {0}
    assert onboarding.get_visit(context, person, "demo").situation == "withdrawn"
    for number in (2, 3):
        other, _ = entry.arrive(context, "demo", link(number))
        onboarding.begin(context, other, "demo")
        assert len(work(context, other)) == 2


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_an_owner_undoes_a_withdrawal_within_its_time_and_then_it_is_deleted(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE)
    people = []
    for number in (1, 2):
        person, _ = entry.arrive(context, "demo", link(number))
        people.append(person)
        ensure_code(context, person)
        onboarding.begin(context, person, "demo")
        work(context, person)
    first = people[0]
    before, scores = count_work(context), read_scores(context)
    with context.store.write() as db:
        forget_browsers(db, first.id)  # people of earlier versions have no code, and are asked for none
    onboarding.withdraw(context, first, "demo")
    assert count_work(context)["submission"] == before["submission"] // 2
    assert plans.undo_withdrawal(context, owner, "demo", first.name) > 0
    assert count_work(context) == before and read_scores(context) == scores
    assert onboarding.get_visit(context, first, "demo").code == "DONE1"
    with pytest.raises(NotFoundError, match="to restore"):
        plans.undo_withdrawal(context, owner, "demo", first.name)
    onboarding.withdraw(context, first, "demo")
    assert onboarding.delete_withdrawn(context) == 0
    with context.store.write() as db:
        db.conn.execute("UPDATE withdrawn_work SET delete_after = '2020-01-01T00:00:00.000Z'")
    with pytest.raises(NotFoundError, match="to restore"):
        plans.undo_withdrawal(context, owner, "demo", first.name)
    assert onboarding.delete_withdrawn(context) == 1
    assert onboarding.get_visit(context, first, "demo").situation == "removed"
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM withdrawn_work").fetchone()[0] == 0


def read_scores(context: Context) -> list[Any]:
    """Every score with its lines, in the order of saving."""
    sql = (
        "SELECT s.uid, s.annotator, s.score, s.revision, count(r.position) FROM submission s"
        " LEFT JOIN submission_row r ON r.submission = s.id GROUP BY s.id, s.uid, s.annotator, s.score, s.revision"
    )
    with context.store.read() as db:
        return sorted(tuple(row) for row in db.conn.execute(sql).fetchall())


def test_a_study_pauses_by_itself_when_full_and_runs_again_where_work_is_rejected(
    context: Context, owner: Person
) -> None:
    open_study(context, owner, Proof.NONE, n_documents=1)  # two instances by two people
    people = []
    for number in (1, 2):
        person, _ = entry.arrive(context, "demo", link(number))
        onboarding.begin(context, person, "demo")
        work(context, person)
        people.append(person)
    plan = plans.get_plan(context, owner, "demo")
    assert plan and (plan.state, plan.reason) == (StudyState.PAUSED, "full")
    assert onboarding.get_visit(context, people[1], "demo").code == "DONE1"
    assert entry.look(context, "demo", link(3)).coming is Coming.SHUT
    with pytest.raises(NotAllowedError, match="full"):
        entry.arrive(context, "demo", link(3))
    plans.reject(context, owner, "demo", people[0].name, comment="did not read")
    plan = plans.get_plan(context, owner, "demo")
    assert plan and (plan.state, plan.reason) == (StudyState.RUNNING, "")
    entry.arrive(context, "demo", link(3))
