"""Every command ends by itself on a closed terminal, answers in JSON, and says in its errors what to do next."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coeval.cli.commands import build_parser, main
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.conftest import make_study

PLAIN = {
    "skill": "prints a page",
    "mcp": "speaks MCP",
    "judge schema": "prints JSON in any case",
    "cite": "prints BibTeX",
    "serve": "is a server",
    "review": "is a server",
}
"""Commands without ``--json``, each with the reason."""
ARGUMENTS = {"serve": ["--host", "192.0.2.1"], "mcp": [], "mcp token": ["--task", "demo"]}
"""Arguments that a command needs in addition to those that its parser requires."""


def list_commands(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command that runs, with its parser."""
    kinds = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if parser.get_default("command"):
        yield " ".join(words), parser
    for action in kinds:
        for name, inner in action.choices.items():
            yield from list_commands(inner, (*words, name))


COMMANDS = dict(list_commands(build_parser()))


def test_all_other_commands_have_json() -> None:
    assert len(COMMANDS) > 40
    missing = {name for name, parser in COMMANDS.items() if "--json" not in parser._option_string_actions}
    assert missing == PLAIN.keys()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("walk") / "walk.db"
    context = Context(Store(path), load_settings({}, db=path))
    import_study(context, OPERATOR, make_study())
    context.store.close()
    return path


def fill(parser: argparse.ArgumentParser, folder: Path) -> list[str]:
    """Return the shortest arguments that a parser accepts; files are missing."""
    words: list[str] = []
    groups = [group._group_actions[0] for group in parser._mutually_exclusive_groups if group.required]
    for action in parser._actions:
        needed = action.required or action in groups
        if not needed or isinstance(action, argparse._SubParsersAction) or action.nargs == 0:
            continue
        if action.dest == "task":
            value = "demo"
        elif action.choices:
            value = str(next(iter(action.choices)))
        elif action.type in (int, float):
            value = "1"
        else:
            value = str(folder / f"missing-{action.dest}")
        count = action.nargs if isinstance(action.nargs, int) else 1
        words += [*action.option_strings[:1], *[value] * count]
    return words


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_ends_on_a_closed_terminal(
    name: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = COMMANDS[name]
    words = [*name.split(), *fill(parser, tmp_path), *ARGUMENTS.get(name, [])]
    options = parser._option_string_actions
    words += ["--db", str(demo)] if "--db" in options else []
    words += ["--json"] if "--json" in options else []
    for variable in [each for each in os.environ if each.startswith(("OPENAI_", "COEVAL_", "HF_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)  # what Python gives a process whose standard input is closed
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            code = end.code or 0
    told = err.getvalue()
    if code == 0 and "--json" in options:
        json.loads(out.getvalue())
    if code != 0:
        assert code == 1 and told.startswith("coeval: "), told
        refusal = told.strip().splitlines()[-1].removeprefix("coeval: ")
        assert re.search(r"(: |; | \().{6,}", refusal), f"say what to do next: {refusal}"
        assert "Errno" not in refusal


def test_an_import_with_an_open_column_asks_nothing_on_a_closed_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("input,output,mood\nWhy?,So.,glad\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", None)
    main(["import", str(tmp_path / "a.csv"), "--task", "t", "--db", str(tmp_path / "a.db")])
    assert "No role was chosen for mood" in capsys.readouterr().out
