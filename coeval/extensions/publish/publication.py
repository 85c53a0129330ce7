"""A study in one HTML file: what leaves the study, and the file, under a policy that allows only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from coeval.domain import Draft, Person, Task
from coeval.domain.evaluations import QuotePlace
from coeval.errors import InputError
from coeval.language import get_spoken, speaking, tr
from coeval.stats import methods_paragraph, show_tags
from coeval.stats.frames import StudyFrames
from coeval.store import Database
from coeval.store.queries import drafts, exports, reports, tasks
from coeval.store.queries.criteria import get_criteria_set
from coeval.store.queries.reports import read
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.reports.statistics import EVERY, get_reading, get_report


def list_words() -> dict[str, str]:
    """Return every text of the page by its name; the browser fills in the {names}."""
    return {
        "question": tr("Question"),
        "trust": tr("Can these scores be trusted?"),
        "figures": tr("Figures"),
        "items": tr("Items"),
        "drafts": tr("What the drafts did"),
        "drafts_note": tr("Computed for all scores of the study."),
        "no_drafts": tr("Nobody saw a draft."),
        "methods": tr("Methods"),
        "files": tr("Files to save"),
        "choose": tr("Leave out people, criteria or systems"),
        "noscript": tr("The figures and items need a browser that runs scripts. Nothing is loaded or sent."),
        "made": tr("Made with CoEval. This file loads nothing and sends nothing."),
        "skip": tr("Skip to the figures"),
        "nothing_out": tr("All scores count."),
        "left_out": tr("Left out: {names}. The figures below are computed without them."),
        "alpha_mean": tr("Alpha, mean of the criteria"),
        "alpha_pooled": tr("Alpha, all scores pooled"),
        "scores_all": tr("ordinal, all scores"),
        "scores_unaided": tr("ordinal, scores without the draft"),
        "units_scores": tr("{ratings} scores of {units} units"),
        "people_items": tr("{people} people, {items} items"),
        "undefined": tr("undefined"),
        "criteria": tr("Criteria"),
        "criterion": tr("Criterion"),
        "systems": tr("Systems"),
        "system": tr("System"),
        "people": tr("People"),
        "alpha_interval": tr("Alpha [95% interval]"),
        "mean_interval": tr("Mean [95% interval]"),
        "units": tr("Units"),
        "scores": tr("Scores"),
        "find": tr("Find"),
        "filter": tr("Show"),
        "sort": tr("Sort"),
        "all_systems": tr("All systems"),
        "all_items": tr("All items"),
        "disagree": tr("2 points apart or more"),
        "by_order": tr("As imported"),
        "by_range": tr("Largest disagreement first"),
        "by_mean": tr("Highest mean first"),
        "items_shown": tr("{n} of {of} items"),
        "more": tr("Show more"),
        "unscored": tr("not scored"),
        "mean_range": tr("mean {mean}, at most {range} apart"),
        "link": tr("Link to this item"),
        "draft": tr("Draft"),
        "scores_of": tr("Scores of {id}"),
        "draft_of": tr("Draft: {criterion}"),
        "conclusion": tr("Conclusion"),
        "score": tr("Score"),
        "evidence": tr("Evidence"),
        "comments": tr("Comments and reasons"),
    }


HERE = Path(__file__).parent / "file"
SCRIPTS = ("student", "agreement", "figures", "elements", "items", "page")
"""The modules of the page, each after those that it imports."""

LARGEST = 5_000_000
"""Bytes up to which the data are in the page itself; above, they are in a script beside it."""


@dataclass(frozen=True, slots=True)
class Published:
    """The files of a published study by name, and what they hold, in sentences."""

    files: dict[str, str]
    leaving: list[str]


def build_files(content: Mapping[str, Any], stem: str) -> dict[str, str]:
    """Return the page, and the script with its data if they are too large for one file.

    The texts of the page are in the current language.

    Args:
        content: the ``task``, its ``report``, the ``methods`` in Markdown, and the ``data`` of the figures.
        stem: the name of the files without its ending.
    """
    words = list_words()
    data, beside = _escape({**content["data"], "words": words}), f"{stem}.data.js"
    page = _render(content, words, embedded=data)
    if len(page.encode()) <= LARGEST:
        return {f"{stem}.html": page}
    page = _render(content, words, beside=quote(beside))
    return {f"{stem}.html": page, beside: f"window.publishedStudy = {data};\n"}


def _render(
    content: Mapping[str, Any], words: Mapping[str, str], *, embedded: str = "", beside: str = ""
) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = True
    style, script = (HERE / "page.css").read_text(encoding="utf-8"), join_scripts()
    sources = f"'sha256-{_hash(script)}'" + (" file: 'self'" if beside else "")
    policy = (
        f"default-src 'none'; script-src {sources}; style-src 'sha256-{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    trusted = {"style": style, "script": script, "embedded": embedded}
    trusted["methods"] = _render_markdown(content["methods"])
    safe = {name: Markup(text) for name, text in trusted.items()}
    values = {**content, **safe, "words": words, "policy": policy, "beside": beside, "language": get_spoken()}
    return environment.get_template("page.html").render(values)


@cache
def join_scripts() -> str:
    """Return the modules as one, without their imports and exports."""
    texts = [(HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    bare = [re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE) for text in texts]
    return "\n" + "\n".join(re.sub(r"^export ", "", text, flags=re.MULTILINE) for text in bare)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _escape(data: Mapping[str, Any]) -> str:
    """Return JSON in which no text can end a script: no character of it is "<"."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _render_markdown(text: str) -> str:
    """Return Markdown as HTML without the text's own HTML, links and images."""
    from markdown_it import MarkdownIt

    bare = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink", "reference"])
    return str(bare.render(text))


@dataclass(frozen=True, slots=True)
class Choice:
    """The optional content of a published file; scores, criteria, systems and item names are always in it."""

    texts: bool = True
    """The inputs and outputs, and the lines of the drafts, which quote them."""
    comments: bool = False
    """Comments and reasons of people, word for word."""
    names: bool = False
    """People's names; otherwise they have pseudonyms."""


@use_case(OWNERS)
def publish_file(
    context: Context, person: Person, slug: str, choice: Choice, *, stem: str = "study"
) -> Published:
    """Return the files of a published study, and a line for each kind of content in them.

    Args:
        stem: the name of the files without its ending.

    Raises:
        InputError: nobody has scored yet.
    """
    frames = get_reading(context, person, slug, newest=True).read_frames(EVERY)
    if frames.scored.empty:
        raise InputError("Nobody has scored yet: a published study shows scores. Score some items first.")
    report = get_report(context, person, slug)
    methods = show_tags(methods_paragraph(frames, report))
    with context.store.read() as db:
        task = require_task(db, slug)
        naming = _name_people(frames, choice, tasks.get_seed(db, task.id))
        data = _collect(db, task, frames, choice, naming)
    data["intervals"] = _read_intervals(report)
    with speaking(task.language):
        files = build_files({"task": task, "report": report, "methods": methods, "data": data}, stem)
    return Published(files, list(_tell(data, choice, sum(map(len, files.values())))))


def _name_people(frames: StudyFrames, choice: Choice, seed: str) -> dict[str, str]:
    """Return the shown name of each person; pseudonyms follow an order that only the seed gives."""
    names = [str(name) for name in frames.annotators]
    if choice.names:
        return dict(zip(names, names, strict=True))
    key = hashlib.sha256(f"people of the published file {seed}".encode()).digest()
    names.sort(key=lambda name: hashlib.blake2s(name.encode(), key=key).hexdigest())
    return {name: f"P{number}" for number, name in enumerate(names, 1)}


Places = dict[str, int]
"""The position of each name in a list of the data, in order."""


def _place(names: Iterable[Any]) -> Places:
    distinct = dict.fromkeys(str(name) for name in names if name and not pd.isna(name))
    return {name: at for at, name in enumerate(distinct)}


def _collect(
    db: Database, task: Task, frames: StudyFrames, choice: Choice, naming: Mapping[str, str]
) -> dict[str, Any]:
    """Return the data of the page; positions in its lists stand for names."""
    instances = frames.instances.drop_duplicates("instance")
    documents, systems = _place(instances["document"]), _place(instances["system"])
    people, items, criteria = _place(naming), _place(instances["instance"]), _place(frames.criteria)
    arms = _place(sorted(frames.scored["arm"].unique()))
    texts = _read_texts(db, task) if choice.texts else {}
    inputs = _place(text for text, _ in texts.values())
    columns = frames.scored[["annotator", "instance", "criterion", "score", "arm", "first_score"]]
    return {
        "people": list(naming.values()),
        "criteria": list(criteria),
        "scales": [list(frames.scales[text]) for text in criteria],
        "systems": list(systems),
        "documents": list(documents),
        "arms": list(arms),
        "fields": [task.input_field, task.output_field],
        "inputs": list(inputs),
        "items": [
            [name, documents.get(document, -1), systems.get(system, -1), inputs.get(input_text, -1), output]
            for name, document, system in instances[["instance", "document", "system"]].itertuples(
                index=False
            )
            for input_text, output in [texts.get(name, ("", None))]
        ],
        "scores": [
            [people[who], items[item], criteria[criterion], _whole(score), arms[arm], _whole(first)]
            for who, item, criterion, score, arm, first in columns.itertuples(index=False)
        ],
        "drafts": list(_list_drafts(db, task, items, criteria, choice)),
        "comments": list(_list_comments(db, task, people, items)) if choice.comments else [],
    }


def _read_texts(db: Database, task: Task) -> dict[str, tuple[str, str]]:
    result = read(db, exports.INSTANCES, task=task.id)
    name, input_text, output = (result.names.index(column) for column in ("instance", "input", "output"))
    return {str(row[name]): (row[input_text], row[output]) for row in result}


def _whole(score: float | None) -> float | None:
    """Return a score as short as it can be: 4 rather than 4.0; None if it is missing."""
    if score is None or pd.isna(score):
        return None
    return int(score) if float(score).is_integer() else float(score)


def _list_drafts(
    db: Database, task: Task, items: Places, criteria: Places, choice: Choice
) -> Iterator[list[Any]]:
    """Yield the drafts of the shown run, or else of the only one, with their lines and quotes."""
    runs = drafts.list_runs(db, task.id)
    shown = [run for run in runs if run.shown] or (runs if len(runs) == 1 else [])
    current = get_criteria_set(db, task.id)
    if not shown or current is None:
        return
    item_of = {row[0]: items[str(row[1])] for row in read(db, reports.INSTANCES, task=task.id)}
    criterion_of = {criterion.id: criteria[criterion.text] for criterion in current.criteria}
    for draft in exports.list_current_drafts(db, shown[0].id):
        if draft.instance in item_of and draft.criterion in criterion_of:
            about = [item_of[draft.instance], criterion_of[draft.criterion], _whole(draft.score)]
            yield [*about, _list_lines(draft) if choice.texts else []]


def _list_lines(draft: Draft) -> list[list[Any]]:
    """Return each line with the places of its quotes: start, end, and 1 if it is in the input."""
    return [
        [line.kind, line.text,
         [[quote.start, quote.end, int(quote.place is QuotePlace.INPUT)]
          for quote in line.quotes if quote.start is not None]]
        for line in draft.rows
    ]  # fmt: skip


def _list_comments(db: Database, task: Task, people: Places, items: Places) -> Iterator[list[Any]]:
    """Yield comments on items, and reasons and words for changes, of the people who are in the file."""
    for sql, columns in ((exports.MARKS, ("comment",)), (exports.ROWS, ("reason", "new_text"))):
        result = read(db, sql, task=task.id)
        for values in result:
            row = dict(zip(result.names, values, strict=True))
            who, item = people.get(row["annotator"]), items.get(str(row["instance"]))
            if None not in (who, item) and row["latest"] and not row["rejected"]:
                yield from ([who, item, row[column]] for column in columns if row[column])


def _read_intervals(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report's own intervals, for studies so large that it deals documents into random groups."""
    agreement = report["agreement"]
    parts = [agreement["headline"], agreement["intervals"]["humans"]["ordinal"], *agreement["per_criterion"]]
    headline, pooled, *criteria = [[part.get("ci_low"), part.get("ci_high")] for part in parts]
    return {"headline": headline, "pooled": pooled, "criteria": criteria}


def _tell(data: Mapping[str, Any], choice: Choice, size: int) -> Iterator[str]:
    """Say what the file holds, for the owner who decides."""
    n = {name: f"{len(part):,}" for name, part in data.items()}
    texts = "with" if choice.texts else "without"
    yield f"The task's name and description, {n['criteria']} criteria and {n['systems']} systems."
    yield f"{n['items']} items {texts} their texts. The names of items and documents always leave."
    yield f"{n['scores']} scores of {n['people']} people, by {'name' if choice.names else 'pseudonym'}."
    yield f"{n['drafts']} drafts of the shown run, {texts} their lines."
    if choice.comments:
        yield f"{n['comments']} comments and reasons, word for word: check them for names."
    else:
        yield "No comments and reasons."
    yield f"{size / 1_000_000:.1f} MB."
