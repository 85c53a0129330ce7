"""What leaves in a published file, who may publish, and how large the file is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.cli.commands import main
from coeval.domain import Instance, Study
from coeval.errors import InputError
from coeval.extensions.publish.publication import LARGEST, Choice, join_scripts, publish_file
from coeval.ui.server.plain_pages import HELP
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import add_finished_example, import_study
from tests.conftest import make_study
from tests.support.studies.scored_study import scored

PEOPLE = ["Ana Sample", "Ben Sample", "Cem Sample"]


def with_reasons(study: Study) -> Study:
    """The study in which everybody says why they deleted a line."""
    work = [
        replace(one, rows=tuple(replace(row, reason=f"{one.person} says so") for row in one.rows[:3]))
        for one in study.submissions
    ]
    return replace(study, submissions=tuple(work))


def publish(context: Context, slug: str = "demo", **choice: bool) -> str:
    files = publish_file(context, OPERATOR, slug, Choice(**choice)).files
    assert list(files) == ["study.html"]
    return files["study.html"]


def read_data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="study">(.*?)</script>', page)
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_by_default_people_have_pseudonyms_and_their_words_stay(context: Context) -> None:
    import_study(context, OPERATOR, with_reasons(scored(PEOPLE)))
    page = publish(context)
    assert not any(word in page for word in ("Sample", "Ana", "says so"))
    data = read_data(page)
    assert data["people"] == ["P1", "P2", "P3"] and data["comments"] == []
    assert len(data["scores"]) == 3 * 12 * 2 and len(data["items"]) == 12
    assert "The answer 1 of a." in page and data["drafts"][0][3]
    assert read_data(publish(context))["scores"] == data["scores"], "pseudonyms are the same in every file"


def test_owners_choose_names_comments_and_texts(context: Context) -> None:
    import_study(context, OPERATOR, with_reasons(scored(PEOPLE)))
    data = read_data(publish(context, names=True, comments=True))
    assert data["people"] == PEOPLE
    who, _, said = data["comments"][0]
    assert said == f"{PEOPLE[who]} says so"
    bare = publish(context, texts=False)
    assert "The answer 1 of a." not in bare and "Question 1?" not in bare
    assert {len(lines) for *_, lines in read_data(bare)["drafts"]} == {0}


def test_what_leaves_is_said_before(context: Context) -> None:
    import_study(context, OPERATOR, with_reasons(scored(PEOPLE)))
    told = publish_file(context, OPERATOR, "demo", Choice()).leaving
    assert "12 items with their texts. The names of items and documents always leave." in told
    assert "72 scores of 3 people, by pseudonym." in told and "No comments and reasons." in told
    told = publish_file(context, OPERATOR, "demo", Choice(texts=False, comments=True, names=True)).leaving
    assert any("comments and reasons, word for word" in line for line in told)
    assert "72 scores of 3 people, by name." in told and any("without their texts" in line for line in told)


def test_only_what_was_scored_is_published(context: Context) -> None:
    import_study(context, OPERATOR, make_study())
    with pytest.raises(InputError, match="Nobody has scored"):
        publish_file(context, OPERATOR, "demo", Choice())


def test_the_file_names_no_address_and_allows_only_its_own_script(context: Context) -> None:
    import_study(context, OPERATOR, scored(PEOPLE))
    page = publish(context)
    bare = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//\w+\.\w", bare), "it names an address"
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy and policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy[1] and not re.search(r"\son\w+=", page.split("<script")[0])


def test_no_module_of_the_page_hides_a_name_of_another() -> None:
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", join_scripts(), re.MULTILINE)
    assert len(names) > 30 and len(names) == len(set(names))
    assert "import " not in join_scripts() and "export " not in join_scripts()


def test_it_speaks_the_language_of_the_study(context: Context) -> None:
    study = scored(PEOPLE)
    import_study(context, OPERATOR, replace(study, task=replace(study.task, language="ar")))
    page = publish(context)
    assert '<html lang="ar" dir="rtl">' in page and "هل يمكن الوثوق بهذه الدرجات؟" in page


def make_large(length: int) -> Study:
    """1,000 items with texts of a length, two criteria, drafts with quotes, and three people's scores."""
    study = scored(PEOPLE, 500)
    instances = tuple(
        Instance(
            one.external_id,
            f"{one.input} ".ljust(length, "x"),
            f"{one.output} ".ljust(length, "y"),
            one.document,
            one.system,
        )
        for one in study.instances
    )
    work = tuple(replace(one, opened_at="", submitted_at="") for one in study.submissions)
    return replace(study, instances=instances, submissions=work)


@pytest.mark.slow
def test_a_thousand_items_are_one_file_and_larger_texts_lie_beside_it(
    tmp_path: Path, context: Context
) -> None:
    import_study(context, OPERATOR, make_large(1000))
    page = publish(context)
    assert len(read_data(page)["items"]) == 1000 and len(page.encode()) < LARGEST
    larger = make_large(4500)
    import_study(context, OPERATOR, replace(larger, task=replace(larger.task, slug="larger")))
    files = publish_file(context, OPERATOR, "larger", Choice(), stem="my study").files
    assert list(files) == ["my study.html", "my study.data.js"]
    assert len(files["my study.html"]) < 100_000 and 'src="my%20study.data.js"' in files["my study.html"]


@pytest.mark.sqlite
def test_the_example_under_help_is_what_the_command_writes(
    context: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_finished_example(context)
    path = tmp_path / "example.html"
    where = ["--task", "finished-example", "--db", context.store.address]
    main(["publish", *where, "--names", "--out", str(path)])
    assert capsys.readouterr().out.endswith(f"{path}\n")
    shown = (HELP / "example.html").read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown, (
        "write coeval/ui/help/example.html again: python -m coeval publish --task finished-example --names"
    )
    assert len(shown) < 1_000_000
    main(["publish", *where, "--out", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["paths"] == [str(path)] and len(told["leaving"]) == 6
    with pytest.raises(SystemExit):
        main(["publish", *where, "--out", str(tmp_path / "no" / "such.html")])
    assert "is not writable" in capsys.readouterr().err
