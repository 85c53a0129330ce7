"""Accounts: invitations that work once, passwords, throttling, sessions that end, and who may become what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import Person, Role
from coeval.errors import InputError, NotAllowedError, NotFoundError
from coeval.settings import OAuth, SignIn, load_settings
from coeval.store import open_store
from coeval.store.queries import people
from coeval.usecases import accounts as module
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.accounts import (
    FREE_TRIES,
    Profile,
    accept_invitation,
    build_keys,
    ensure_linked,
    get_invitation,
    get_pause,
    invite,
    list_invitations,
    revoke_invitation,
    sign_in_by_huggingface,
    sign_in_with_password,
)
from coeval.usecases.sessions import (
    get_member,
    get_signed_in,
    hash_token,
    list_members,
    set_role,
    sign_in,
    sign_out,
    sign_out_everywhere,
)
from coeval.usecases.tasks import list_tasks

PASSWORD = "correct horse battery"
HASHER = module.HASHER
"""As it is outside tests, where hashing is made cheap."""


@pytest.fixture
def hosted(context: Context) -> Context:
    """The same file, with passwords for sign-in."""
    return replace(context, settings=replace(context.settings, sign_in=SignIn.ACCOUNTS))


@pytest.fixture
def space(context: Context) -> Context:
    oauth = OAuth("http://localhost", "id", "secret")
    settings = replace(context.settings, sign_in=SignIn.HUGGINGFACE, oauth=oauth, owner="Julia-M")
    return replace(context, settings=settings)


def make_account(context: Context, name: str, role: Role = Role.ANNOTATOR) -> Person:
    return accept_invitation(context, invite(context, OPERATOR, role), name, PASSWORD)[0]


def enter(context: Context, name: str, password: str = PASSWORD, address: str = "10.0.0.1") -> str:
    return sign_in_with_password(context, name, password, address)[1]


def test_an_invitation_gives_its_role_once(hosted: Context) -> None:
    token = invite(hosted, OPERATOR, Role.OWNER)
    person, session = accept_invitation(hosted, token, " Ana  B ", PASSWORD)
    assert (person.name, person.role) == ("Ana B", Role.OWNER)
    assert get_signed_in(hosted, session) == person
    with pytest.raises(NotAllowedError, match="used or has expired"):
        accept_invitation(hosted, token, "Ben", PASSWORD)


def test_an_invitation_runs_out(hosted: Context) -> None:
    token = invite(hosted, OPERATOR, Role.OWNER)
    with hosted.store.write() as db:
        db.conn.execute("UPDATE invitation SET expires_at = '2020-01-01T00:00:00.000Z'")
    with pytest.raises(NotAllowedError):
        accept_invitation(hosted, token, "Ana", PASSWORD)


def test_nobody_takes_over_a_name_that_is_known(context: Context, hosted: Context) -> None:
    sign_in(context, "Olu")  # the owner, by name alone, when the file was on a laptop
    with pytest.raises(InputError, match="taken"):
        make_account(hosted, "Olu")
    token = invite(hosted, OPERATOR, Role.ANNOTATOR, name="Olu")
    person, _ = accept_invitation(hosted, token, "somebody else", PASSWORD)
    assert (person.name, person.role) == ("Olu", Role.OWNER)
    assert get_signed_in(hosted, enter(hosted, "Olu")) == person


def test_a_new_password_ends_the_old_one_and_its_sessions(hosted: Context) -> None:
    make_account(hosted, "Ana")
    session = enter(hosted, "Ana")
    accept_invitation(hosted, invite(hosted, OPERATOR, Role.OWNER, name="Ana"), "", PASSWORD + "2")
    assert get_signed_in(hosted, session) is None
    with pytest.raises(NotAllowedError):
        enter(hosted, "Ana")
    assert enter(hosted, "Ana", PASSWORD + "2")


def test_neither_words_nor_time_tell_which_names_there_are(
    hosted: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The costly step is taken for a name that does not exist too."""
    make_account(hosted, "Ana")
    verified: list[str] = []

    class Counting:
        def hash(self, password: str) -> str:
            return str(hasher.hash(password))

        def verify(self, secret: str, password: str) -> bool:
            verified.append(secret)
            return hasher.verify(secret, password)

    hasher = module.HASHER
    monkeypatch.setattr(module, "HASHER", Counting())
    messages = set()
    for name in ("Ana", "Nobody"):
        with pytest.raises(NotAllowedError) as caught:
            enter(hosted, name, "wrong password")
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert len(verified) == 2 and all(secret.startswith("$argon2id$") for secret in verified)


def test_further_tries_wait_longer_and_longer_but_a_right_password_is_let_in(hosted: Context) -> None:
    make_account(hosted, "Ana")
    for _ in range(FREE_TRIES["pair"]):
        assert get_pause(hosted, "Ana", "10.0.0.1") == 0
        with pytest.raises(NotAllowedError, match="wrong"):
            enter(hosted, "Ana", "wrong password")
    with pytest.raises(NotAllowedError, match="wait 1 s"):
        enter(hosted, "aNA")  # a try that has not waited is not even looked at
    pauses = []
    for _ in range(6):
        pauses.append(get_pause(hosted, "Ana", "10.0.0.1"))
        with pytest.raises(NotAllowedError, match="Too many tries"):
            sign_in_with_password(hosted, "Ana", "wrong password", "10.0.0.1", waited=pauses[-1])
    assert pauses == [1, 2, 4, 8, 16, 16]
    assert sign_in_with_password(hosted, "Ana", PASSWORD, "10.0.0.1", waited=16)
    assert enter(hosted, "Ana", address="10.0.0.2")  # who guesses elsewhere does not even slow Ana down
    with hosted.store.write() as db:
        db.conn.execute("UPDATE recent_event SET at = '2020-01-01T00:00:00.000Z'")
    assert enter(hosted, "Ana")


def test_strangers_cannot_lock_a_name_nor_everybody_behind_an_address(hosted: Context) -> None:
    make_account(hosted, "Ana")
    with hosted.store.write() as db:
        for n in range(500):
            for key in build_keys("Ana", f"192.0.2.{n}").values():
                people.add_sign_in_try(db, key)
            for key in build_keys(f"guess {n}", "10.0.0.1").values():
                people.add_sign_in_try(db, key)
    pause = get_pause(hosted, "Ana", "10.0.0.1")
    assert 0 < pause <= 2
    assert sign_in_with_password(hosted, "Ana", PASSWORD, "10.0.0.1", waited=pause)


@pytest.mark.sqlite
def test_no_secret_is_in_the_file(hosted: Context) -> None:
    token = invite(hosted, OPERATOR, Role.OWNER)
    _, session = accept_invitation(hosted, token, "Ana", PASSWORD)
    hosted.store.close()
    data = b"".join(path.read_bytes() for path in hosted.store.path.parent.glob("coeval.db*"))
    for secret in (token, session, PASSWORD):
        assert secret.encode() not in data


def test_sessions_survive_a_restart_end_and_are_not_fixed(context: Context) -> None:
    person, first = sign_in(context, "Ana")
    again = replace(context, store=open_store(context.store.address))
    assert get_signed_in(again, first) == person
    _, second = sign_in(context, "Ana", old_token=first)
    assert get_signed_in(context, first) is None and get_signed_in(context, second) == person
    sign_out(context, second)
    assert get_signed_in(context, second) is None
    tokens = [sign_in(context, "Ana")[1] for _ in range(3)]
    assert sign_out_everywhere(context, person) == 3
    assert [get_signed_in(context, token) for token in tokens] == [None] * 3


def test_a_new_name_that_differs_only_in_capitals_is_asked_about(context: Context) -> None:
    """“olga” and “Olga” were two people, and their work that of two annotators."""
    known = [sign_in(context, name)[0] for name in ("Olga", "Ольга")]
    for typed, told in (("olga", "If that is you, type “Olga”"), ("ольга", "“Ольга” is known")):
        with pytest.raises(InputError, match=told):
            sign_in(context, typed)
    assert [sign_in(context, person.name)[0] for person in known] == known
    with context.store.read() as db:
        assert len(people.list_people(db)) == 2


def test_each_kind_of_sign_in_refuses_the_others(context: Context, hosted: Context, space: Context) -> None:
    with pytest.raises(NotAllowedError, match="name alone"):
        sign_in(hosted, "Ana")
    with pytest.raises(NotAllowedError, match="name alone"):
        sign_in(space, "Ana")
    with pytest.raises(NotAllowedError):
        enter(context, "Ana")
    with pytest.raises(NotAllowedError):
        sign_in_by_huggingface(hosted, Profile("1", "Julia-M"))
    with hosted.store.read() as db:
        assert people.list_people(db) == []


def test_the_owner_of_the_settings_owns_the_space_and_strangers_are_guests(space: Context) -> None:
    stranger, session = sign_in_by_huggingface(space, Profile("77", "first-come"))
    assert stranger.role is Role.ANNOTATOR and get_member(space, session) is None
    with pytest.raises(NotAllowedError, match="not part of the study"):
        list_tasks(space, stranger)
    owner, session = sign_in_by_huggingface(space, Profile("42", "julia-m"))
    assert owner.role is Role.OWNER and get_member(space, session) == owner
    set_role(space, owner, "first-come", Role.ANNOTATOR)
    assert list_tasks(space, stranger) == []


def test_the_lasting_id_is_the_person_not_the_name(space: Context, context: Context) -> None:
    sign_in(context, "mia")
    first, _ = sign_in_by_huggingface(space, Profile("1", "mia"))
    assert (first.name, first.role) == ("mia (2)", Role.ANNOTATOR)  # never the person of that name before
    renamed, _ = sign_in_by_huggingface(space, Profile("1", "mia-new"))
    assert renamed == first
    taken_over, _ = sign_in_by_huggingface(space, Profile("2", "mia"))
    assert taken_over.id != first.id


def test_a_link_never_makes_more_than_an_annotator(context: Context, owner: Person) -> None:
    with context.store.write() as db:
        worker = ensure_linked(db, "prolific", "5f0c1e2d3b4a596877665544")
        assert ensure_linked(db, "prolific", "5f0c1e2d3b4a596877665544") == worker
        assert ensure_linked(db, "mturk", "5f0c1e2d3b4a596877665544") != worker
    assert "5f0c" not in worker.name
    with pytest.raises(InputError, match="too weak a proof"):
        set_role(context, owner, worker.name, Role.OWNER)
    set_role(context, owner, worker.name, Role.ANNOTATOR)
    with context.store.read() as db:
        assert people.is_guest(db, worker.id)
    with pytest.raises(NotAllowedError, match="crowd"):
        sign_in(context, worker.name)
    assert worker in [one.person for one in list_members(context, owner)]


def test_settings_choose_the_kind() -> None:
    space = {
        "SPACE_ID": "a/b",
        "SPACE_HOST": "a-b.hf.space",
        "OAUTH_CLIENT_ID": "id",
        "OAUTH_CLIENT_SECRET": "very-secret",
        "OPENID_PROVIDER_URL": "https://huggingface.co",
    }
    assert load_settings({}).sign_in is SignIn.NAMES
    assert load_settings({"COEVAL_SIGN_IN": "accounts"}).sign_in is SignIn.ACCOUNTS
    found = load_settings(space)
    assert (found.sign_in, found.public_url) == (SignIn.HUGGINGFACE, "https://a-b.hf.space")
    assert "very-secret" not in repr(found) + repr(found.oauth)
    for missing in space:  # all of them, or a forged sign-in might be
        assert load_settings({k: v for k, v in space.items() if k != missing}).sign_in is SignIn.NAMES
    with pytest.raises(InputError, match="OAUTH_CLIENT_SECRET"):
        load_settings({"COEVAL_SIGN_IN": "huggingface"})
    with pytest.raises(InputError, match="names, accounts, huggingface"):
        load_settings({"COEVAL_SIGN_IN": "magic"})


def test_links_of_a_demoted_owner_die_and_owners_list_and_take_back_links(context: Context) -> None:
    with context.store.write() as db:
        olu, ana = (people.ensure_person(db, name, Role.OWNER) for name in ("Olu", "Ana"))
    theirs, ours, kept = (invite(context, who, Role.OWNER) for who in (ana, olu, olu))
    open_ = list_invitations(context, olu)
    assert len(open_) == 3 and not any(token in repr(open_) for token in (theirs, ours, kept))
    set_role(context, olu, "Ana", Role.RESEARCHER)
    set_role(context, olu, "Ana", Role.OWNER)  # who is made an owner again gives out new ones
    left = revoke_invitation(context, olu, hash_token(ours)[:8])
    assert [one.key for one in left] == [hash_token(kept)[:8]]
    for token in (theirs, ours):
        with pytest.raises(NotAllowedError, match="used or has expired"):
            get_invitation(context, token)
    assert get_invitation(context, kept).created_by == "Olu"
    with pytest.raises(NotFoundError, match="no open link"):
        revoke_invitation(context, olu, "00000000")


def test_a_name_signs_in_whatever_form_a_keyboard_gives_it(hosted: Context) -> None:
    composed, apart = "Jos\u00e9", "Jose\u0301"
    person = make_account(hosted, apart)
    assert person.name == composed
    for typed in (composed, apart):
        assert get_signed_in(hosted, enter(hosted, typed)) == person
        with pytest.raises(InputError, match="taken"):
            make_account(hosted, typed)
    assert build_keys(composed, "10.0.0.1") == build_keys(apart, "10.0.0.1"), (
        "or tries would be counted apart"
    )
