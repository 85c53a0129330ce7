"""The catalogue of what annotators read: it holds every text of theirs, and every language says all of them."""

from __future__ import annotations

import ast
import gettext
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.jslexer import tokenize

from coeval.language import list_languages, speaking, tr, trn
from tests import catalogue

ROOT = catalogue.ROOT
CODES = catalogue.list_codes()
AGAIN = "run python -m tests.catalogue"
NAMED = re.compile(r"\{(\w*)\}")
MARKED = re.compile(r"<[^>]+>")
WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z]*\s[^A-Za-z]*[A-Za-z]{2,}|^[A-Z][a-z]{2,}$")
"""Two words, or one that begins as a label does: what a person could be meant to read."""

ANNOTATORS_ROOMS = (
    "coeval/rules/evaluation_rows.py",
    "coeval/usecases/scrutiny/queue.py",
    "coeval/usecases/scrutiny/navigation.py",
    "coeval/usecases/scrutiny/steps.py",
    "coeval/usecases/crowd/entry.py",
    "coeval/usecases/crowd/onboarding.py",
    "coeval/usecases/crowd/link_signing.py",
    "coeval/usecases/crowd/link_signing.py",
    "coeval/ui/server/identity.py",
    "coeval/ui/server/identity.py",
    *(path.relative_to(ROOT).as_posix() for path in (ROOT / "coeval/ui/crowd_pages").glob("*.py")),
)
"""Files that say nothing but what annotators may read: every error and every node of theirs is in the catalogue."""

MANY = re.compile(r"\btrn\(\s*'[^']*',\s*'([^']*)'")
"""The second form of a text that is counted."""

NO_WORDS = {"Ctrl", "Meta", "Alt", "Shift", "Control", "Escape", "Esc", "Enter", "Space"}


@cache
def template() -> Catalog:
    return catalogue.extract()


@cache
def stored(code: str) -> Catalog:
    return catalogue.read(code)


def texts(message: Message) -> list[str]:
    return list(message.string) if isinstance(message.string, (tuple, list)) else [message.string]


def names(text: str) -> set[str]:
    return set(NAMED.findall(text))


@pytest.mark.slow
def test_the_files_are_what_the_code_says() -> None:
    assert catalogue.POT.read_bytes() == catalogue.render(template()), AGAIN
    assert CODES == ["ar"] and [*list_languages()] == ["en", *CODES]
    for code in CODES:
        current = catalogue.update(code, template())
        assert catalogue.po_of(code).read_bytes() == catalogue.render(current), AGAIN
        script = catalogue.BROWSER / f"{code}.json"
        assert script.read_text(encoding="utf-8") == catalogue.render_json(current), AGAIN


@pytest.mark.parametrize("code", CODES)
def test_what_python_reads_is_what_is_written(code: str) -> None:
    """The compiled file stands in the repository, since a plain clone has to run."""
    with catalogue.po_of(code).with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for one in stored(code):
        if isinstance(one.id, str) and one.id:
            assert compiled.gettext(one.id) == one.string, AGAIN
        elif one.id:
            rule = Locale.parse(code).plural_form
            order = [
                form
                for form in ("zero", "one", "two", "few", "many", "other")
                if form in rule.tags | {"other"}
            ]
            for n in range(220):
                wanted = one.string[order.index(rule(n))]
                assert compiled.ngettext(*one.id, n) == wanted, f"{n}: {AGAIN}"


@pytest.mark.parametrize("code", CODES)
def test_every_text_is_said_with_the_same_values(code: str) -> None:
    for one in stored(code):
        if not one.id:
            continue
        said = texts(one)
        assert all(said), f"{one.id} is not translated into {code}"
        ids = [one.id] if isinstance(one.id, str) else list(one.id)
        allowed = set.union(*map(names, ids))
        for text in said:
            # a form for one or two things may leave the number out
            spared = {"n", "more"} if len(said) > 1 else set()
            assert allowed - spared <= names(text) <= allowed, f"{ids[0]}: {text}"
            assert sorted(MARKED.findall(text)) == sorted(MARKED.findall(ids[0])), f"{ids[0]}: {text}"


@pytest.mark.parametrize("code", CODES)
def test_a_language_has_all_its_plural_forms(code: str) -> None:
    forms = len(Locale.parse(code).plural_form.tags | {"other"})
    plural = [one for one in stored(code) if isinstance(one.id, (tuple, list))]
    assert len(plural) > 15 and {len(one.string) for one in plural} == {forms}


@pytest.mark.parametrize("code", CODES)
def test_the_browser_knows_what_the_scripts_say(code: str) -> None:
    content = json.loads((catalogue.BROWSER / f"{code}.json").read_text(encoding="utf-8"))
    said = {match for path in scripts() for match in marked_in(path.read_text(encoding="utf-8"))}
    assert len(said) > 200 and said <= content["words"].keys()
    assert content["direction"] == list_languages()[code].direction


def test_arabic_counts_as_arabic_does() -> None:
    with speaking("ar"):
        said = [trn("{n} line selected", "{n} lines selected", n) for n in (0, 1, 2, 3, 11, 100)]
        assert len(set(said)) == 6 and said[3].startswith("اختيرت 3") and "2" not in said[2]
        assert tr("Page {at} of {pages}", at=1, pages=3) == "الصفحة 1 من 3"
    assert tr("Sign in") == "Sign in"
    with speaking("xx"):
        assert tr("Sign in") == "Sign in", "a language without a catalogue is English"


def scripts() -> list[Path]:
    static = ROOT / "coeval/ui/static"
    return [path for path in static.rglob("*.js") if "vendor" not in path.parts]


def marked_in(source: str) -> Iterator[str]:
    pattern = r"""\btr(?:n|Parts)?\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)")"""
    return (match[1] or match[2] for match in re.finditer(pattern, source))


def test_the_scripts_say_nothing_past_the_catalogue() -> None:
    """A string of words is one that ``tr`` marks; what looks like words and is none is of the kinds named here."""
    past = []
    for path in scripts():
        source = path.read_text(encoding="utf-8")
        known = set(marked_in(source)) | {m[1] for m in re.finditer(MANY, source)}
        lines = source.splitlines()
        for token in tokenize(source, jsx=False):
            if token.type != "string" or (text := token.value[1:-1]) in known | NO_WORDS:
                continue
            if WORDS.search(text) and not is_code(text, lines[token.lineno - 1], path.name):
                past.append(f"{path.name}:{token.lineno}: {text}")
    assert not past, "\n".join(past)


CODE = re.compile(r"class|combos|shown:|new Error\(|Attribute\(|===|querySelector|closest\(|matchMedia")
"""What stands in a line whose words are names of classes, keys and selectors, or a developer's error."""

UNREAD = ("markdown.js", "display.js", "view.js", "clipboard.js")
"""Scripts that name parts of a grammar and say nothing."""


def is_code(text: str, line: str, name: str) -> bool:
    return name in UNREAD or bool(CODE.search(line)) or text.startswith(("wb-", "ce-", "rt-", "rg-"))


@pytest.mark.parametrize("name", ANNOTATORS_ROOMS)
def test_annotators_rooms_say_nothing_past_the_catalogue(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    past = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", "")
        if called == "el":
            said = node.args[1:]
        elif called.endswith("Error") or called in ("StudyForm", "render_page"):
            said = [
                *node.args,
                *(one.value for one in node.keywords if one.arg in ("label", "ask", "text", "title")),
            ]
        else:
            continue
        past += [f"{name}:{one.lineno}: {words}" for one in said for words in plain_words(one)]
    assert not past, "\n".join(past)


def plain_words(node: ast.expr) -> list[str]:
    """The words that an expression says as they stand in the code."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    said = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return [text for text in said if WORDS.search(text) and text != "CoEval"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "coeval/ui/server/pages").glob("*.html")), ids=lambda path: path.name
)
def test_the_pages_say_nothing_past_the_catalogue(path: Path) -> None:
    source = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", path.read_text(encoding="utf-8"), flags=re.S)
    source = re.sub(r'class="[^"]*"', "", source)
    words = [text.strip() for text in re.split(r"<[^>]*>", source) if re.search(r"[A-Za-z]{2,}", text)]
    assert [text for text in words if text not in ("CoEval", "· CoEval", "← CoEval")] == []
