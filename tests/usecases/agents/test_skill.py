"""The skill page: one page, printed by a command, whose commands all parse."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from coeval.cli.commands import build_parser, main

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
