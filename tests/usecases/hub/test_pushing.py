"""A study sent to the Hub: what is said before, what may stop it, and that nothing arrives by halves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.hub.study_tables import CONFIGS, file_of
from coeval.extensions.hub.transfer import Leaving, Pushed, Target, preview_push, push_study
from coeval.usecases.access import Context
from coeval.usecases.export import export_folder
from coeval.usecases.reports.statistics import get_paper_tables
from coeval.usecases.study_import import import_study
from tests.support.hosting.hub_stub import HubStub
from tests.support.studies.scored_study import scored

TARGET = Target("team/study", "cc-by-4.0")


@pytest.fixture
def studied(context: Context, owner: Person) -> Context:
    study = scored(["Ann Archer", "Bo"], n_documents=2)
    first = replace(study.submissions[0].rows[0], reason="Ann Archer told me so.")
    work = replace(study.submissions[0], rows=(first, *study.submissions[0].rows[1:]))
    import_study(context, owner, replace(study, submissions=(work, *study.submissions[1:])))
    return context


def push(context: Context, owner: Person, target: Target = TARGET) -> Pushed:
    seen = preview_push(context, owner, "demo", target)
    return push_study(context, owner, "demo", target, confirmed=seen.repo, digest=seen.digest)


def look(context: Context, owner: Person, **changes: object) -> Leaving:
    return preview_push(context, owner, "demo", replace(TARGET, **changes))  # type: ignore[arg-type]


def test_what_leaves_is_said_before(studied: Context, owner: Person, hub: HubStub) -> None:
    seen = look(studied, owner)
    assert seen.counts == {
        "instances": 4, "criteria": 2, "drafts": 8, "submissions": 16, "votes": 0, "scores": 16,
    }  # fmt: skip
    assert seen.standing.startswith("The token sees no such data set") and "private" in seen.standing
    told = " ".join([*seen.texts, *seen.ids])
    assert "4 instances" in told and "1 of them contain the name of a person" in told, told
    assert "2 people: 2 of the group team. They have pseudonyms." in told
    assert "Ann Archer told me so." in seen.examples
    assert not hub.exists and not hub.commits and {line.split()[0] for line in hub.heard} == {"GET"}


@pytest.mark.slow
def test_a_study_is_sent_once(
    studied: Context, owner: Person, hub: HubStub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    first = push(studied, owner)
    assert first.sent.created and str(first).startswith(
        "A new data set was created. team/study contains the study"
    )
    assert hub.private and len(hub.commits) == 1 and first.sent.revision == hub.sha
    assert set(hub.files) == {"README.md", "study.json", *map(file_of, CONFIGS)}
    everything = b"".join(hub.files.values())
    assert b"Archer told me so" in everything, "what people wrote goes as they wrote it"
    assert b'"Bo"' not in everything and b"Ann Archer\x00" not in hub.files["scores.parquet"]
    again = push(studied, owner)
    assert not again.sent.changed and "nothing was changed" in str(again) and len(hub.commits) == 1
    with studied.store.write() as db:
        db.conn.execute("UPDATE task SET guidelines = 'Be kind.' WHERE slug = 'demo'")
    push(studied, owner)
    assert hub.commits[1] == ["header", "file README.md", "file study.json"], hub.commits
    with studied.store.read() as db:
        stored = str([list(db.query(f"SELECT * FROM {table}")) for table in db.table_names()])
    assert hub.token not in caplog.text + stored + everything.decode("utf-8", "ignore")


def test_only_what_was_looked_at_is_sent(studied: Context, owner: Person, hub: HubStub) -> None:
    seen = look(studied, owner)
    for typed in ("", "study", "team/Study", "yes"):
        with pytest.raises(InputError, match="Type the full name of the data set, team/study"):
            push_study(studied, owner, "demo", TARGET, confirmed=typed, digest=seen.digest)
    other_licence = replace(TARGET, licence="mit")
    with pytest.raises(InputError, match="has changed since the preview"):
        push_study(studied, owner, "demo", other_licence, confirmed=seen.repo, digest=seen.digest)
    assert not hub.exists and not hub.commits


@pytest.mark.slow
def test_where_a_study_may_not_go(studied: Context, owner: Person, hub: HubStub) -> None:
    for changes, said in (
        ({"name": "study"}, "is not a data set of the Hub"),
        ({"name": "team/study@v1"}, "needs a data set"),
        ({"licence": ""}, "No licence was chosen"),
        ({"licence": "GPL for texts"}, "is not a licence on the Hub"),
    ):
        with pytest.raises(InputError, match=said):
            look(studied, owner, **changes)
    settings = studied.settings
    kept = replace(settings, snapshots=replace(settings.snapshots, repo="team/study"))
    with pytest.raises(InputError, match="contains the snapshots of this database"):
        look(replace(studied, settings=kept), owner)
    without = replace(settings, snapshots=replace(settings.snapshots, token=""))
    with pytest.raises(InputError, match="set HF_TOKEN to a token with write"):
        look(replace(studied, settings=without), owner)
    hub.exists, hub.files["data.csv"] = True, b"a,b\n"
    with pytest.raises(InputError, match="contains files that CoEval did not send"):
        look(studied, owner)
    hub.files.clear()
    with pytest.raises(InputError, match="team/study is public: choose public"):
        look(studied, owner)
    assert "public, at commit" in look(studied, owner, private=False).standing
    hub.private, hub.files[".gitattributes"] = True, b"*.parquet filter=lfs"
    assert not push(studied, owner).sent.created and ".gitattributes" in hub.files


FAULTS = {
    "401": "check the name, and set HF_TOKEN",
    "403": "check the name, and set HF_TOKEN",
    "404": "check the name, and set HF_TOKEN",
    "429": "too many requests",
    "500": r"The Hub failed \(500\)",
    "cut": "cannot be reached",
}
STEPS = ("repos/create", "validate-yaml", "preupload", "objects/batch", "/large/", "/commit/")


@pytest.mark.slow
@pytest.mark.parametrize("trouble", FAULTS)
def test_a_fault_anywhere_leaves_all_or_nothing(
    studied: Context, owner: Person, hub: HubStub, trouble: str
) -> None:
    seen = look(studied, owner)
    struck = 0
    for at in STEPS:
        if (trouble, at) == ("404", "repos/create"):
            continue  # what the stand-in then says is that the name is taken
        hub.exists = hub.private = at != "repos/create"
        hub.trouble, hub.at, hub.struck = trouble, at, 0
        with pytest.raises(InputError, match=FAULTS[trouble]) as refusal:
            push_study(studied, owner, "demo", TARGET, confirmed=seen.repo, digest=seen.digest)
        assert hub.token not in str(refusal.value)
        assert hub.struck and not hub.files and not hub.commits, f"{trouble} at {at}"
        struck += hub.struck
    assert struck >= 5
    hub.trouble = ""
    assert push(studied, owner).sent.changed and len(hub.commits) == 1 and len(hub.files) == 2 + len(CONFIGS)


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["429", "500", "cut"])
def test_what_passes_is_tried_again(studied: Context, owner: Person, hub: HubStub, trouble: str) -> None:
    tries = count()
    hub.trouble, hub.at, hub.fails = trouble, "/large/", lambda: next(tries) % 2 == 0
    assert push(studied, owner).sent.changed
    assert hub.struck >= 3 and len(hub.commits) == 1 and len(hub.large) >= 5


@pytest.mark.slow
def test_a_lost_answer_and_a_race(studied: Context, owner: Person, hub: HubStub) -> None:
    hub.trouble = "hang up"
    with pytest.raises(InputError, match="may have received"):
        push(studied, owner)
    assert len(hub.commits) == 1, "it was done, and only the answer lost"
    hub.trouble = ""
    assert not push(studied, owner).sent.changed and len(hub.commits) == 1

    def somebody_else() -> bool:
        if not raced:
            raced.append(1)
            hub.files["more.txt"] = b"more"
            hub.commits.append(["file more.txt"])
        return False

    raced: list[int] = []
    seen = look(studied, owner, licence="mit")
    hub.trouble, hub.at, hub.fails = "500", "preupload", somebody_else
    with pytest.raises(InputError, match="changed .* on the Hub at the same moment"):
        push_study(
            studied, owner, "demo", replace(TARGET, licence="mit"), confirmed=seen.repo, digest=seen.digest
        )
    assert len(hub.commits) == 2 and b"license: cc-by-4.0" in hub.files["README.md"]


@pytest.mark.slow
def test_the_command(
    studied: Context, hub: HubStub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    command = [
        "export",
        "--to",
        "hf://datasets/team/study",
        "--task",
        "demo",
        "--db",
        str(studied.store.address),
    ]

    def refused(*more: str) -> str:
        with pytest.raises(SystemExit):
            main([*command, *more])
        return capsys.readouterr().err

    assert "--licence" in refused()
    assert "--confirm team/study" in refused("--licence", "mit")
    assert not hub.exists
    main([*command, "--licence", "mit", "--private", "--confirm", "team/study"])
    told = capsys.readouterr().out
    assert "scores: 16 rows" in told and "team/study contains the study at commit" in told
    assert hub.private and len(hub.commits) == 1 and hub.token not in told
    main([*command, "--licence", "mit", "--confirm", "team/study"])
    assert "nothing was changed" in capsys.readouterr().out
    answers: Callable[[str], str] = lambda prompt: "team/study"  # noqa: E731
    monkeypatch.setattr("builtins.input", answers)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    main([*command, "--licence", "odbl"])
    assert len(hub.commits) == 2


@pytest.mark.slow
def test_what_an_owner_types_is_no_html_in_a_file(
    context: Context, owner: Person, hub: HubStub, tmp_path: Path
) -> None:
    """Labels, names, descriptions and guidelines go into Markdown files that sites render."""
    tag = "<img src=x onerror=alert(1)>"
    study = scored(["Ann", "Bo"], n_documents=6)
    run = replace(study.runs[0], run=replace(study.runs[0].run, label=tag, model=tag))
    work = tuple(replace(one, run=tag) for one in study.submissions)
    task = replace(
        study.task, name=tag, description=f"Read.\n\n{tag}", guidelines=tag, input_field=tag, output_field=tag
    )
    import_study(context, owner, replace(study, task=task, runs=(run,), submissions=work))
    push(context, owner)
    export_folder(context, owner, "demo", tmp_path)
    tables = get_paper_tables(context, owner, "demo")
    written = {name: str(text) for name, text in tables.items() if name.endswith(".md")}
    written |= {"card": hub.files["README.md"].decode(), "export": (tmp_path / "README.md").read_text()}
    assert "methods.md" in written and "img src=x" in written["methods.md"] + written["card"]
    for name, text in written.items():
        shown = text.replace("\\<", "") if name == "card" else text  # Markdown's own escape
        body = shown.split("---\n")[2] if name == "card" else shown  # the head is YAML
        assert "<img" not in body, name
