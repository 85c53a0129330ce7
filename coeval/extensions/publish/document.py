"""The HTML of a published study: one file that loads nothing, under a policy that allows only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coeval.language import get_spoken, tr


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
