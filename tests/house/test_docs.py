"""What the README says is true: its commands parse, its files exist, its lists are the code's."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from coeval.cli.commands import build_parser
from coeval.language import list_languages, speaking
from coeval.llm.protocols.protocol import list_protocols
from coeval.ui.server.plain_pages import FILES, HELP, TITLES, render_help
from coeval.usecases.export import TABLES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (HELP / "commands.md").read_text(encoding="utf-8")
GOLDEN = ROOT / "tests" / "data" / "golden" / "finished"
SHOWN = ("instance", "system", "criterion", "annotator", "arm", "score", "draft_score")
COMMANDS = re.findall(r"(?m)^python -m coeval .+", README + PAGE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command: str) -> None:
    arguments = shlex.split(command, comments=True)[3:]
    assert build_parser().parse_args(arguments).command


def test_named_files_exist() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in HELP.glob("*.md"))
    named = {
        *re.findall(r"\]\((coeval/[^)]+)\)", README),
        *re.findall(r"data/demo/[\w.]+", README),
        *re.findall(r"`(tests/[\w/]+\.py)`", README + pages),
    }
    assert len(named) > 15
    assert not [path for path in sorted(named) if not (ROOT / path).is_file()]


def test_the_rows_shown_are_rows_of_the_finished_example() -> None:
    with (GOLDEN / "export" / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = [tuple(row[name] for name in SHOWN) for row in csv.DictReader(file)]
    table = README.split(" | ".join(SHOWN))[1].split("\n\n")[0].splitlines()[2:]
    assert len(table) == 3
    assert all(tuple(cell.strip() for cell in line.strip("|").split("|")) in rows for line in table)


def test_the_alpha_shown_is_that_of_the_finished_example() -> None:
    headline = json.loads((GOLDEN / "stats.json").read_text(encoding="utf-8"))["agreement"]["headline"]
    low, value, high = (f"{headline[key]:.2f}".lstrip("0") for key in ("ci_low", "value", "ci_high"))
    said = " ".join(README.split("In a paper")[1].split("\n\n")[0].split())
    assert f"ordinal alpha {value}, 95% interval [{low}, {high}]" in said
    assert f"over {headline['clusters']} documents" in said and headline["scores"] == "blind and first scores"


def test_every_protocol_is_told() -> None:
    table = (HELP / "judges.md").read_text(encoding="utf-8").split("| Protocol |")[1].split("\n\n")[0]
    told = {name for line in table.splitlines()[2:] for name in line.split("|")[1].strip().split(", ")}
    assert told == set(list_protocols()), "coeval/ui/help/judges.md says what each protocol asks for"


def test_every_exported_file_is_named() -> None:
    assert [name for name in TABLES if f"`{name}`" not in PAGE] == []


def test_every_limit_has_the_name_that_the_index_says() -> None:
    table = (
        (ROOT / "coeval/README.md")
        .read_text(encoding="utf-8")
        .split("## Where is this number")[1]
        .split("\n## ")[0]
    )
    rows = [
        re.findall(r"`([^`]+)`", line) for line in table.splitlines() if line.startswith("| ") and "`" in line
    ]
    assert len(rows) > 20
    missing = [
        (path, name)
        for row in rows
        for path in row
        if "/" in path
        for name in row
        if "/" not in name
        and not re.search(rf"(?m)^(?:    )?{name}\b.*=", (ROOT / path).read_text(encoding="utf-8"))
    ]
    assert not missing


def test_the_front_matter_starts_a_space() -> None:
    front = README.split("---")[1]
    for line in ("sdk: docker", "app_port: 7860", "hf_oauth: true"):
        assert line in front


def test_links_between_help_pages_lead_to_pages() -> None:
    pages = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
    links = [(name, link) for name, page in pages.items() for link in re.findall(r"\]\(([^)]+)\)", page)]
    assert len(links) > 15
    assert not [link for link in links if link[1] not in TITLES and not (HELP / link[1]).is_file()]


def test_annotators_read_their_page_in_the_language_of_their_screens() -> None:
    english = bytes(render_help("annotate").body).decode()
    for code in set(list_languages()) - {"en"}:
        with speaking(code):
            page = bytes(render_help("annotate").body).decode()
        assert f'lang="{code}"' in page and page.count("<h2>") == english.count("<h2>")
        assert page.count("<tr>") == english.count("<tr>") and "<h1>For annotators" not in page
        assert re.findall(r"<code>[^<]+</code>", page) == re.findall(r"<code>[^<]+</code>", english)


def test_every_help_page_is_shown() -> None:
    assert set(HELP.glob("*.md")) <= set(FILES.values()) and set(FILES) == set(TITLES)
    for name in TITLES:
        page = bytes(render_help(name).body).decode()
        assert f"<title>{TITLES[name]}" in page and "<h1>" in page and re.search("<(table|[uo]l)>", page)
    annotators = bytes(render_help("annotate").body).decode()
    assert 'href="guide">For researchers' in annotators and 'href="crowd"' not in annotators
