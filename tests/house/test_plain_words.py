"""Texts that people read have at most 25 words a sentence, and explain the few words that only CoEval uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages.pofile import read_po

from coeval.ui.server.plain_pages import FILES

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 25
"""Words in one sentence."""

JARGON = {
    "arm": r"arms?",
    "planted error": r"planted",
    "ledger": r"ledger",
    "seal": r"seal(?:s|ed|ing)?",
    "lineage": r"lineages?",
}
"""Words that need an explanation, as they stand in the table of the page “Using CoEval”, and their forms."""

GLOSSARY = "guide"
"""The help page with that table. The bar of every page links to it."""

UNCLEAR = r"(?<!-)\bpull\b"
"""Words that no screen uses: say “influence of the draft”."""

SAID = {"tr": 1, "later": 1, "trn": 2}
"""Functions for texts that are translated, with the number of their texts."""
SHOWN = ("label", "info", "placeholder", "help", "description", "epilog")


def _read(node: ast.AST) -> str:
    """Return a literal text, with ``X`` for each value in it; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def _list_parts(node: ast.AST) -> list[ast.expr]:
    """Return the arguments of a call or an error that people read."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        name = ast.unparse(node.exc.func)
        ours = name.endswith("Error") and name not in (
            "ValueError",
            "TypeError",
            "RuntimeError",
            "AssertionError",
        )
        return node.exc.args[:1] if ours else []
    if not isinstance(node, ast.Call):
        return []
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in SAID:
        return node.args[: SAID[name]]
    shown = [keyword.value for keyword in node.keywords if keyword.arg in SHOWN]
    named = (
        node.args[:1]
        if ast.unparse(node.func) in ("gr.Button", "gr.Markdown", "gr.Accordion", "gr.Tab")
        else []
    )
    return [*shown, *named, *(node.args[1:] if name == "el" else [])]


@cache
def list_screen_texts() -> tuple[tuple[str, str], ...]:
    """Return each text of a screen, a message or a command's help, with its place."""
    return tuple(_list_screen_texts())


def _list_screen_texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "coeval").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for part in _list_parts(node):
                if text := _read(part):
                    yield f"{path.relative_to(ROOT)}:{part.lineno}", text
    with (ROOT / "coeval/locale/coeval.pot").open("rb") as file:
        for message in read_po(file):
            for text in (message.id,) if isinstance(message.id, str) else message.id:
                yield "coeval/locale/coeval.pot", text


def read_prose(page: str) -> str:
    """Return a Markdown page without front matter, code, tables, headings and pictures; code spans become ``X``."""
    page = re.sub(r"\A---.*?\n---\n|```.*?```", "", page, flags=re.S)
    lines = [line for line in page.splitlines() if not line.startswith(("|", "#", "!["))]
    return re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", "\n".join(lines)))


def split_sentences(text: str) -> list[str]:
    """Return the sentences and list items of a text.

    >>> split_sentences("One. Two (see *this*.) Three\\n\\n- four")
    ['One.', 'Two (see *this*.)', 'Three', '- four']
    """
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. ))", text)
    return [
        one
        for part in parts
        for one in re.split(r"(?<=[.!?])[*”\"]*\s+|(?<=[.!?]\))\s+", part.strip())
        if one
    ]


def list_pages() -> dict[str, str]:
    pages = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
    return pages | {"README": (ROOT / "README.md").read_text(encoding="utf-8")}


def test_no_sentence_is_long() -> None:
    texts = [*list_screen_texts(), *((name, read_prose(page)) for name, page in list_pages().items())]
    assert len(texts) > 1500
    long = [
        f"{place}: {len(sentence.split())} words: {sentence}"
        for place, text in texts
        for sentence in split_sentences(text)
        if len(sentence.split()) > LONGEST
    ]
    assert not long, "\n".join(long)


def test_jargon_is_explained() -> None:
    """A page that uses such a word links to its explanation; screens do so by the link in their bar."""
    pages = list_pages()
    explained = re.findall(r"(?m)^\| ([a-z ]+) \| [^|]+ \|$", pages[GLOSSARY].split("| Word | Meaning |")[1])
    assert set(JARGON) <= set(explained)
    unexplained = [
        f"{name}: “{word}”"
        for name, page in pages.items()
        for word, forms in JARGON.items()
        if name not in (GLOSSARY, "README") and f"]({GLOSSARY})" not in page
        if re.search(rf"\b(?:{forms})\b", read_prose(page), re.I)
    ]
    assert not unexplained, f"link to the page “{GLOSSARY}”: {unexplained}"
    bar = (ROOT / "coeval/ui/gradio_pages.py").read_text(encoding="utf-8")
    assert f'"{GLOSSARY}"' in bar and 'href=f"help/{page}"' in bar


def test_screens_use_no_unclear_word() -> None:
    assert not [(place, text) for place, text in list_screen_texts() if re.search(UNCLEAR, text, re.I)]


def test_a_label_is_a_name_and_its_explanation_an_info() -> None:
    found = []
    for place in sorted((ROOT / "coeval").rglob("*.py")):
        for node in ast.walk(ast.parse(place.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("gr."):
                labels = [_read(one.value) for one in node.keywords if one.arg == "label"]
                found += [label for label in labels if re.search(r"\((?!of )", label)]
    assert not found
