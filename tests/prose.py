"""``python -m tests.prose``: list long sentences of screens, messages, help and README, and pages that are too long.

The exit code is 1 if there are any.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from coeval.ui.server.plain_pages import FILES

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
LONGEST = 25
"""Words in a sentence."""
MOST_LINES = 90
"""Lines of the README."""
MOST_WORDS = 9_000
"""Words of all help pages, but the one for coding agents, whose length `skill.md` has a test for."""

TRANSLATED = {"tr": 1, "later": 1, "trn": 2}
"""Functions for texts that are translated, with the number of their texts."""
SHOWN = ("label", "info", "placeholder", "help", "description", "epilog")


def list_texts() -> Iterator[tuple[str, str]]:
    """Yield each text of a screen, an error or a command's help, with its place; ``X`` stands for a value."""
    for path in sorted((ROOT / "coeval").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for text in map(_read, _list_parts(node)):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def _list_parts(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return node.exc.args[:1] if ast.unparse(node.exc.func) != "ValueError" else []
    if not isinstance(node, ast.Call):
        return []
    name = ast.unparse(node.func).rpartition(".")[2]
    shown = [keyword.value for keyword in node.keywords if keyword.arg in SHOWN]
    first = node.args[: TRANSLATED.get(name, int(name in ("Button", "Markdown", "Accordion", "Tab")))]
    return [*shown, *first, *(node.args[1:] if name == "el" else [])]


def _read(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def read_page(path: Path) -> str:
    """Return a Markdown page without front matter, code, tables, headings and pictures; code spans become ``X``."""
    page = re.sub(r"\A---.*?\n---\n|```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    lines = [line for line in page.splitlines() if not line.startswith(("|", "#", "!["))]
    return re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", "\n".join(lines)))


def split_sentences(text: str) -> list[str]:
    """Return the sentences and list items of a text."""
    items = re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. ))", text)
    return [part for item in items for part in re.split(r"(?<=[.!?])[*”\"]*\s+|(?<=[.!?]\))\s+", item)]


def main() -> int:
    pages = [*FILES.values(), README]
    texts = [*list_texts(), *((str(path.relative_to(ROOT)), read_page(path)) for path in pages)]
    faults = [
        f"{place}: {len(sentence.split())} words: {sentence}"
        for place, text in texts
        for sentence in split_sentences(text)
        if len(sentence.split()) > LONGEST
    ]
    lines = len(README.read_text(encoding="utf-8").splitlines())
    words = sum(
        len(re.findall(r"\S*\w\S*", path.read_text(encoding="utf-8")))
        for path in FILES.values()
        if path.name != "skill.md"
    )
    faults += [f"README.md: {lines} lines, at most {MOST_LINES}"] * (lines > MOST_LINES)
    faults += [f"help: {words:,} words, at most {MOST_WORDS:,}"] * (words > MOST_WORDS)
    print("\n".join(faults) or f"{len(texts):,} texts: no sentence has more than {LONGEST} words")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
