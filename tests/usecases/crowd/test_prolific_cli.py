"""The same by command: a dry run sends nothing, a confirmation is asked for, and what failed is exit code 1."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coeval.cli.commands import main
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import Context
from tests.support.hosting.prolific_stub import TOKEN, ProlificStub, serving_prolific
from tests.support.studies.prolific_study import PUBLIC, open_study, take_part


@pytest.fixture
def stub() -> Iterator[ProlificStub]:
    with serving_prolific() as running:
        yield running


@pytest.mark.slow
def test_a_study_by_command(
    stub: ProlificStub, tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{tmp_path}/study.db"
    context = Context(Store(path), load_settings({}, db=path))
    open_study(context)
    for name, value in {
        "PROLIFIC_TOKEN": TOKEN,
        "COEVAL_PROLIFIC_API": stub.url,
        "COEVAL_URL": PUBLIC,
    }.items():
        monkeypatch.setenv(name, value)

    def run(action: str, *more: str) -> str:
        main(["prolific", action, "--db", path, "--task", "demo", *more])
        return capsys.readouterr().out

    def fails(action: str, *more: str) -> str:
        with pytest.raises(SystemExit) as ended:
            run(action, *more)
        assert ended.value.code == 1
        return "".join(capsys.readouterr())

    assert (
        "Reward: 3.00 GBP" in run("draft", "--minutes", "20", "--action", "done=approve", "--dry-run")
        and not stub.studies
    )
    assert "write CODE=ACTION, such as done=approve" in fails("draft", "--minutes", "20", "--action", "done")
    run("draft", "--minutes", "20", "--filter", "age=18..40")
    assert "To confirm: --confirm 'publish demo for 3 people'" in run("publish", "--dry-run")
    assert "Nothing was sent" in fails("publish")
    run("publish", "--confirm", "publish demo for 3 people")
    (study,) = stub.studies
    for number in (1, 2, 3):
        take_part(context, stub, study, number)
    assert "a1  awaiting review" in run("status")
    assert "In all 9.00 GBP." in run("approve", "--suggested", "--dry-run") and not stub.approved
    run("approve", "a1", "a2")
    assert "Prolific requires at least 100" in fails(
        "reject", "a3", "--category", "LOW_EFFORT", "--message", "Bad."
    )
    run("reject", "a3", "--category", "LOW_EFFORT", "--message", "It was not read at all. " * 5)
    assert "is approved: there is nothing to return" in fails("return", "a1", "--message", "Please.")
    bonus = ("--rule", "same", "--name", "thanks", "--amount", "1.50")
    assert "--confirm 'pay 3.00 GBP to 2'" in run("bonus", *bonus, "--dry-run")
    stub.fail("/pay/", "cut after")
    assert "look up" in fails("bonus", *bonus, "--confirm", "pay 3.00 GBP to 2")
    number = run("record").splitlines()[-1].partition(",")[0]
    assert "2 of 2 bonuses are paid" in run("look-up", number)
    assert stub.paid == [("a1", 150), ("a2", 150)]
    run("message", "a1", "--message", "Thank you.")
    run("top-up", "--more", "2", "--confirm", "make 5 places of 3 for demo")
    assert stub.studies[study]["total_available_places"] == 5 and len(stub.messages) == 1
    assert "Age: from 18" in run("filters", "age")
    assert TOKEN not in run("record")
