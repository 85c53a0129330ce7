"""The skill page: an agent-like script that runs nothing but the page's commands takes three tables to reports."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from coeval.cli.commands import build_parser, main
from tests.support.models.openai_stub import start_stub
from tests.usecases.agents.studies import CRITERIA, Table, write_tables

PAGE = (Path(__file__).parents[3] / "coeval" / "extensions" / "agents" / "skill.md").read_text("utf-8")
COMMANDS = re.findall(r"(?m)^python -m coeval .+", PAGE) + re.findall(
    r"`(python -m coeval [a-z][^`]+)`", PAGE
)


def test_the_page_is_one_page_and_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["skill"])
    assert capsys.readouterr().out == PAGE and len(PAGE.splitlines()) <= 150


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_parses(command: str) -> None:
    assert build_parser().parse_args(shlex.split(command)[3:]).command


class Script:
    """Runs the commands of one step of the page, with the names of a study in place of the page's examples."""

    def __init__(self, table: Table, folder: Path) -> None:
        self.table, self.folder, self.codes = table, folder, list[int]()
        (folder / "criteria.txt").write_text("\n".join(CRITERIA), encoding="utf-8")
        self.names = {
            "answers": table.slug,
            "answers.csv": table.answers,
            "ratings.csv": table.ratings,
            "criteria.txt": str(folder / "criteria.txt"),
            "report": str(folder / "report"),
            "exported": str(folder / "exported"),
        }

    def step(self, heading: str, *, but: str = "nothing", more: tuple[str, ...] = ()) -> list[Any]:
        """Run the step's commands, without those that name the file ``but``; return their JSON."""
        block = PAGE.split(f"### {heading}")[1].split("```")[1]
        lines = [line for line in block.strip().splitlines() if but not in line]
        return [self.run([*shlex.split(line)[3:], *more]) for line in lines]

    def run(self, words: list[str]) -> Any:
        out, code = io.StringIO(), 0
        command = [self.names.get(word, word) for word in words]
        with contextlib.redirect_stdout(out):
            try:
                main(command)
            except SystemExit as end:
                code = int(end.code or 0)
        assert code == 0, command
        self.codes.append(code)
        return json.loads(out.getvalue()) if "--json" in command else None


@pytest.mark.slow
def test_a_script_takes_three_tables_to_three_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setenv("COEVAL_DB", str(tmp_path / "agent.db"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with start_stub() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        for table in write_tables(tmp_path):
            folder = tmp_path / table.slug
            folder.mkdir()
            script = Script(table, folder)
            imported = script.step("1. Import", but="ratings.csv" if not table.ratings else "nothing")
            assert len(imported) == (2 if table.ratings else 1)
            if not table.ratings:
                (made,) = script.step("2. Criteria")
                assert [one["text"] for one in made["criteria"]] == list(CRITERIA)
            estimate, drafted = script.step(
                "3. Draft", more=("--protocol", "pairwise") if table.pairwise else ()
            )
            assert estimate["calls"] > 0 and drafted["done"] == drafted["total"] > 0
            stats, _, exported = script.step("5. Report")
            assert stats["answer"]["level"] and (folder / "exported" / "scores.csv").is_file()
            assert list((folder / "report").iterdir()) and len(exported["paths"]) > 10
            if table.ratings:
                assert stats["annotators"] == 2 and stats["agreement"]["headline"]["value"] is not None
            if table.pairwise:
                assert {"a", "b"} <= set(re.findall(r'"([ab])"', json.dumps(stats["pairwise"])))
    assert stub.paid > 0


@pytest.mark.parametrize(
    "words",
    [("import", "gone.csv", "--task", "t"), ("stats", "--task", "gone"), ("mcp", "revoke", "gone")],
)
def test_a_refusal_says_what_to_do_next(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "new.db"
    main(["mcp", "token", "--task", "t", "--db", str(db)])
    with pytest.raises(SystemExit) as end:
        main([*words, "--db", str(db)])
    assert end.value.code == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert re.search(r"(: |; ).{5,}", told.removeprefix("coeval: ")), told
