"""Images go to models that take them, and to people from hosts that owners allow; elsewhere it is said why not."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from coeval.domain import ColumnRole, Instance, Message, Person, Request
from coeval.errors import InputError
from coeval.ui.server.guard import build_policy
from coeval.usecases.access import Context
from coeval.usecases.drafting.execution import run_drafting
from coeval.usecases.drafting.run_settings import RunSettings
from coeval.usecases.images import get_page_hosts, set_image_hosts
from coeval.usecases.scrutiny.review import view_instance
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import get_task, get_task_state
from tests.conftest import make_study
from tests.support.models.openai_stub import Reply, start_stub
from tests.unit.rules.test_images import PNG, data
from tests.usecases.drafting.test_drafting import connected, latest
from tests.usecases.exported import read_export

PHOTOS = (data(PNG), "https://pics.example.org/1.png", "https://pics.example.org/1.svg", "")
"""Of the four instances: one inside the file, an address, one that is refused, and none."""


@pytest.fixture
def pictured(context: Context, owner: Person) -> Person:
    study = make_study()
    instances = tuple(
        replace(one, context={"photo": photo}) if photo else one
        for one, photo in zip(study.instances, PHOTOS, strict=True)
    )
    import_study(context, owner, replace(study, instances=instances, runs=()))
    return owner


def parts_of(body: dict[str, Any]) -> list[str]:
    """The addresses of the images in a request."""
    content = body["messages"][-1]["content"]
    return [] if isinstance(content, str) else [part["image_url"]["url"] for part in content[1:]]


def test_a_judge_is_sent_the_images_and_what_is_none_is_unscored(context: Context, pictured: Person) -> None:
    with start_stub() as stub:
        there = connected(context, stub)
        settings = RunSettings(label="seen", concurrency=1)
        report = asyncio.run(run_drafting(there, pictured, "demo", settings))
        assert report.complete and report.unscored == 2
        sent = [parts_of(body) for body in stub.bodies]
        assert sorted(sent) == [[], [], *[[PHOTOS[0]]] * 2, *[[PHOTOS[1]]] * 2]
        words = stub.bodies[sent.index([PHOTOS[0]])]["messages"][-1]["content"][0]["text"]
        assert 'name="photo">\nImage 1 of 1 that come with this message.\n</sample_image>' in words
        assert PHOTOS[0] not in words
        paid = stub.paid
        asyncio.run(run_drafting(there, pictured, "demo", replace(settings, label="again")))
        assert stub.paid == paid, "the ledger knows the question with its images"
    unscored = [draft.reason for draft in latest(context, "seen") if draft.score is None]
    assert len(unscored) == 2 and all("SVG can hold scripts" in reason for reason in unscored)


def test_another_image_is_another_question() -> None:
    one, other, none = (Request("m", (Message("user", "Judge.", images),)) for images in (("a",), ("b",), ()))
    assert len({one.hash, other.hash, none.hash}) == 3
    plain = {"role": "user", "content": "Judge."}
    assert none.hash == replace(none, messages=(Message(**plain),)).hash


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Invalid content type. image_url is only supported by certain models."),
        (404, "No endpoints found that support image input"),
        (400, "At most 0 image(s) may be provided in one request."),
        (422, "messages[0]: unknown variant `image_url`, expected `text`"),
        (400, "'messages.1.content' must be a string"),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
    ],
)
def test_a_model_that_takes_no_images_ends_the_run_with_what_to_do(
    context: Context, pictured: Person, status: int, said: str
) -> None:
    def reply(body: dict[str, Any]) -> str | Reply:
        return Reply(status=status, message=said) if parts_of(body) else '{"conclusion": "So.", "score": 3}'

    with start_stub(reply) as stub:
        there = connected(context, stub)
        report = asyncio.run(run_drafting(there, pictured, "demo", RunSettings(label="none", concurrency=1)))
        assert not report.complete and stub.received < 8
    assert "takes no images: choose one that does" in report.message and said[:40] in report.message


def test_people_see_images_of_allowed_hosts_and_why_not_of_others(context: Context, pictured: Person) -> None:
    def seen(name: str) -> tuple[str, str]:
        (image,) = view_instance(context, pictured, "demo", name).images
        return image.source, image.problem

    assert seen("1a") == (PHOTOS[0], "")
    assert not seen("1b")[0] and "pics.example.org are not shown here" in seen("1b")[1]
    assert "under Hosting" in seen("1b")[1] and "SVG" in seen("2a")[1]
    assert get_page_hosts(context) == ()
    set_image_hosts(context, pictured, "https://pics.example.org/1.png, *.example.com")
    assert seen("1b") == (PHOTOS[1], "")
    hosts = get_page_hosts(context)
    assert build_policy(hosts).count("https://pics.example.org https://*.example.com;") == 1
    with pytest.raises(InputError, match="“\\*” is not a host name"):
        set_image_hosts(context, pictured, "*")
    with pytest.raises(InputError, match="at most 50"):
        set_image_hosts(context, pictured, " ".join(f"a{n}.example.org" for n in range(51)))
    assert seen("1b") == (PHOTOS[1], "")


def test_the_column_keeps_its_role_and_leaves_with_its_values(context: Context, pictured: Person) -> None:
    assert get_task(context, pictured, "demo").columns == {"photo": ColumnRole.IMAGE}
    kept = [json.loads(row["context"]) for row in read_export(context, pictured, "instances.csv")]
    assert kept == [{"photo": photo} if photo else {} for photo in PHOTOS]
    more = replace(
        make_study(), instances=(Instance("9", "in", "out", context={"photo": "not one"}),), runs=()
    )
    import_study(context, pictured, more)
    assert get_task_state(context, pictured, "demo").n_instances == 5
    assert "begins with https://" in view_instance(context, pictured, "demo", "9").images[0].problem
