"""Requests to Prolific: what is sent again, what is not, and that the token is in no word of an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coeval.errors import InputError
from coeval.extensions.prolific.api import Client, RefusedError, UnansweredError
from coeval.settings import load_settings
from tests.support.hosting.prolific_stub import TOKEN, ProlificStub, serving_prolific

BODY = {"completion_codes": [{"code": "DONE1"}], "reward": 300, "total_available_places": 2}


@pytest.fixture
def stub() -> Iterator[ProlificStub]:
    with serving_prolific() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def client(stub: ProlificStub, waits: list[float]) -> Iterator[Client]:
    with Client(stub.url, TOKEN, waits.append) as one:
        yield one


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["429", "500", "cut before", "cut after", "500 after"])
def test_a_reading_is_asked_again_until_it_is_answered(
    client: Client, stub: ProlificStub, fault: str
) -> None:
    stub.fail("/studies/", fault, 3)
    assert client.list_drafts() == []
    assert stub.count("studies") == 4
    stub.fail("/studies/", fault, 4)
    with pytest.raises(RefusedError):
        client.list_drafts()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["429", "500", "cut before", "cut after", "500 after"])
def test_an_approval_is_sent_again_and_pays_once(client: Client, stub: ProlificStub, fault: str) -> None:
    study = client.create_study(BODY).id
    stub.join(study, "a1", "w1")
    stub.fail("/submissions/a1/transition/", fault, 2)
    client.transition("a1", {"action": "APPROVE"})
    assert stub.approved == ["a1"] and stub.count("a1/transition") == 3


@pytest.mark.slow
@pytest.mark.parametrize("first", ["500", "500 after", "cut before", "cut after"])
@pytest.mark.parametrize("last", ["429", "too long", "400"])
def test_a_refusal_after_a_try_without_an_answer_says_nothing_of_that_try(
    client: Client, stub: ProlificStub, first: str, last: str
) -> None:
    study = client.create_study(BODY).id
    stub.join(study, "a1", "w1")
    stub.fail("/submissions/a1/transition/", first)
    if last == "400":
        stub.submissions["a1"]["status"] = "RETURNED"
    else:
        stub.wait = "0" if last == "429" else "3600"
        stub.fail("/submissions/a1/transition/", "429", 3)
    refused = last == "400" and first.endswith("after")
    with pytest.raises(RefusedError if refused else UnansweredError):
        client.transition("a1", {"action": "APPROVE"})


@pytest.mark.parametrize(("fault", "n"), [("429", 2), ("500", 1), ("cut before", 1), ("cut after", 1)])
def test_a_draft_is_sent_again_only_where_it_surely_was_not(
    client: Client, stub: ProlificStub, fault: str, n: int
) -> None:
    stub.fail("/studies/", fault)
    try:
        client.create_study(BODY)
        assert fault == "429"
    except UnansweredError:
        assert fault != "429"
    assert stub.count("studies") == n and len(stub.studies) <= 1


def test_it_waits_as_long_as_prolific_says_and_no_longer_than_people_do(
    client: Client, stub: ProlificStub, waits: list[float]
) -> None:
    stub.wait = "7"
    stub.fail("/studies/", "429")
    client.list_drafts()
    assert waits == [7.0]
    for wait in ("3600", "nan", "inf"):
        stub.wait = wait
        stub.fail("/studies/", "429")
        with pytest.raises(RefusedError, match="no requests for"):
            client.list_drafts()
    stub.wait = "Wed, 21 Oct 2026 07:28:00 GMT"
    stub.fail("/studies/", "429")
    client.list_drafts()
    assert waits[1:] == [0.5]


def test_the_token_is_in_no_error_and_no_repr(stub: ProlificStub) -> None:
    wrong = "another-secret-token"
    with Client(stub.url, wrong) as client, pytest.raises(RefusedError, match="PROLIFIC_TOKEN") as caught:
        # the stand-in says the token back, as a careless server would
        client.list_drafts()
    assert wrong not in str(caught.value)
    settings = load_settings({"PROLIFIC_TOKEN": f" {wrong}\n"})
    assert settings.prolific_token == wrong and wrong not in repr(settings)


def test_it_is_not_sent_in_the_clear_nor_with_signs_that_no_token_has() -> None:
    with pytest.raises(InputError, match="https"):
        Client("http://api.example.org", TOKEN)
    with pytest.raises(InputError, match="PROLIFIC_TOKEN"):
        Client("https://api.example.org", "tok\u2011en")


def test_every_page_of_the_submissions_is_read(client: Client, stub: ProlificStub) -> None:
    study = client.create_study(BODY).id
    for number in range(401):
        stub.join(study, f"a{number}", f"w{number}")
    assert len(client.list_submissions(study)) == 401 and stub.count("/submissions/") == 3
