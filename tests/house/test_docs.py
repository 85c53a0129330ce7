"""What the README says is true: its commands parse, its files exist, its lists are the code's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from coeval.cli.commands import build_parser
from coeval.llm.protocols.registry import list_protocols
from coeval.study.exporting.export import TABLES
from coeval.ui.server.help_pages import HELP, TITLES, render
from tests.benchmarks import (
    agreement,
    agreement_tab,
    batch,
    beside,
    cost,
    coverage,
    firstrun,
    gate,
    hanna,
    hanna_jury,
    judge_null,
    llm_rubric,
    prefill,
    replicas,
    saves,
    scrutiny,
    size,
    soak,
    start,
)

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"python -m coeval [^`\n]+", README)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command: str) -> None:
    arguments = shlex.split(command, comments=True)[3:]
    assert build_parser().parse_args(arguments).command


def test_the_two_commands_are_there() -> None:
    assert "pip install -r requirements.txt && python app.py" in README
    assert "pip install -r tests/requirements.txt && pytest" in README
    assert "-r ../requirements.txt" in (ROOT / "tests" / "requirements.txt").read_text()


def test_named_files_exist() -> None:
    for path in (*re.findall(r"\]\((coeval/[^)]+)\)", README), *re.findall(r"data/demo/[\w.]+", README)):
        assert (ROOT / path).is_file(), path


def test_every_protocol_is_named() -> None:
    named = README.split("chooses how the model is asked")[1].split("`--samples`")[0]
    assert set(re.findall(r"`([\w-]+)`", named)) == set(list_protocols()), "README.md, under --protocol"
    table = (HELP / "judges.md").read_text(encoding="utf-8").split("|---|---|\n")[1].split("\n\n")[0]
    told = {name for line in table.splitlines() for name in line.split("|")[1].strip().split(", ")}
    assert told == set(list_protocols()), "coeval/ui/help/judges.md says what each protocol asks for"


def test_every_exported_file_is_named() -> None:
    for name in TABLES:
        assert name in README, f"README.md names every file of the export, and not {name}"


def test_the_front_matter_starts_a_space() -> None:
    front = README.split("---")[1]
    for line in ("sdk: docker", "app_port: 7860", "hf_oauth: true"):
        assert line in front


def test_pins_are_those_that_were_tried() -> None:
    pins = (ROOT / "requirements.txt").read_text()
    for pin in ("gradio>=6.31,<7", "sqlite-utils>=4.2.1,<5", "openai>=3.52,<4", "altair>=5.5,<6"):
        assert pin in pins


def test_every_help_page_is_shown() -> None:
    assert {path.stem for path in HELP.glob("*.md")} == set(TITLES)
    for name in TITLES:
        page = bytes(render(name).body).decode()
        assert f"<title>{TITLES[name]}" in page and "<h1>" in page and "<table>" in page
    annotators = bytes(render("annotate").body).decode()
    assert 'href="guide">For owners' in annotators and 'href="measured"' not in annotators


def test_what_was_measured_names_every_benchmark_and_its_goals() -> None:
    """A line whose figure misses its goal has to say so; goals are those the commands end by."""
    text = (HELP / "measured.md").read_text(encoding="utf-8")
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if " at " in line
    ]
    table = [cells for cells in lines if len(cells) == 4]
    stated: dict[str, list[float]] = {}
    for name, what, measured, goal in table:
        bound, limit = re.fullmatch(r"at (least|most) ([\d,.]+)", goal).groups()  # type: ignore[union-attr]
        figure, wanted = (float(text.replace(",", "").split()[0]) for text in (measured, limit))
        met = figure >= wanted if bound == "least" else figure <= wanted
        assert met != ("missed" in measured), f"{name}, {what}: {measured} against {goal}"
        stated.setdefault(name, []).append(wanted)
    assert stated == GOALS
    kept = {path.stem for path in (ROOT / "tests" / "benchmarks").glob("[a-z]*.py")}
    assert set(stated) == kept


GOALS = {
    "prefill": [prefill.GOALS["ratio"], prefill.GOALS["cpu_ms"], prefill.GOALS["mb"]],
    "cost": [cost.GOALS["share"], cost.GOALS["estimate"]],
    "agreement": [float(goal) for *_, goal, _ in agreement.CASES],
    "agreement_tab": [agreement_tab.GOAL_CHART, agreement_tab.GOAL_SECTION],
    "scrutiny": [scrutiny.GOAL_MS, scrutiny.GOAL_RATIO],
    "saves": [
        saves.GOALS["paced_p95_ms"],
        saves.FLAT["sqlite"],
        saves.GOALS["volume_ratio"],
        saves.GOALS["paced_p95_ms"],
        saves.FLAT["postgres"],
    ],
    "replicas": [replicas.SLOWER],
    "size": [
        size.IMPORT_SECONDS,
        size.EXPORT_GOAL,
        size.STATS_SECONDS,
        size.STATS_MB,
        size.MEMORY_GOAL,
        size.MEMORY_GOAL,
        size.WALK_GOAL,
        size.CHART_SECONDS,
        size.REVIEW_SECONDS,
        size.START_SECONDS,
        size.STOP_SECONDS,
        size.SERVER_MB,
    ],
    "batch": [batch.MEMORY_GOAL],
    "beside": [beside.GOAL],
    "soak": [soak.GROWTH_GOAL],
    "start": [start.GOAL],
    "firstrun": [firstrun.GOAL],
    "coverage": [coverage.COVERED[0], coverage.ERRED[1]],
    "hanna": [hanna.GOAL],
    "gate": list(gate.GOALS.values()),
    "hanna_jury": [hanna_jury.GOAL],
    "judge_null": [
        judge_null.LEFT_ALONE,
        judge_null.FOUND,
        judge_null.LEFT,
        judge_null.LEFT_ALONE,
        judge_null.FOUND,
        judge_null.LEVEL,
    ],
    "llm_rubric": [
        goal for rmse in llm_rubric.RIVALS.values() for goal in (rmse, *llm_rubric.PUBLISHED.values())
    ],
}
