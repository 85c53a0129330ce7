"""What the help says of judge.json: its commands parse, its workflow is one, its schema is the code's."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from coeval.cli.commands import build_parser
from coeval.extensions.judge.model.file_schema import render_json_schema
from coeval.extensions.judge.runtime.adapters import KEYS
from coeval.extensions.judge.runtime.gate import EXIT_CODES
from coeval.extensions.judge.runtime.judge import COLUMNS
from coeval.ui.server.plain_pages import FILES, SCHEMA
from tests.support.studies.judge_files import make_judge

PAGE = FILES["judgefile"].read_text(encoding="utf-8")
COMMANDS = re.findall(r"python -m coeval [^`\n]+", PAGE)


def test_every_command_parses() -> None:
    assert len(COMMANDS) >= 12
    for command in COMMANDS:
        typed, _, _ = command.partition(" > ")
        assert build_parser().parse_args(shlex.split(typed)[3:]).command


def test_the_workflow_is_one_and_its_gate_is_a_command() -> None:
    text, assertion = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    workflow: dict[Any, Any] = yaml.safe_load(text)
    (config,) = (each["config"] for each in yaml.safe_load(assertion)["assert"])
    assert set(config) <= set(KEYS)
    assert set(workflow) == {"name", True, "jobs"}, "YAML reads the word “on” as true"
    (job,) = workflow["jobs"].values()
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
    (gate,) = (step for step in job["steps"] if "judge gate" in step.get("run", ""))
    options = build_parser().parse_args(shlex.split(gate["run"])[3:])
    assert options.margin == -0.1 and options.min_n == 50 and "OPENAI_API_KEY" in gate["env"]
    report = job["steps"][-1]
    assert report["with"]["path"] == str(options.junit) and report["if"] == "always()"


def test_codes_and_columns_are_those_of_the_code() -> None:
    for code in EXIT_CODES.values():
        assert re.search(rf"^\| {code} \|", PAGE, re.M)
    table = PAGE.split("| Column | What it is |")[1].split("\n\n")[0]
    named = [name.strip() for line in table.splitlines()[2:] for name in line.split("|")[1].split(",")]
    assert tuple(named) == COLUMNS


def test_the_published_schema_is_current_and_fits_a_judge() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == render_json_schema(), (
        "run python -m coeval judge schema > coeval/ui/help/judge.schema.json"
    )
    schema = json.loads(render_json_schema())
    Draft202012Validator.check_schema(schema)
    judge = make_judge().model_dump(mode="json")
    assert not list(Draft202012Validator(schema).iter_errors(judge))
    assert list(Draft202012Validator(schema).iter_errors(judge | {"version": 4}))
