"""Reading Markdown tables of scores: a row for each criterion, under headings that say which column is what."""

from __future__ import annotations

import re
from collections.abc import Iterator

_RULE = re.compile(r"[ \t:|-]{3,}")
_CELLS = re.compile(r"(?<!\\)\|")
_COLUMNS = {
    "Score": re.compile(r"\W*(?:score|rating|points?|grade)\b", re.I),
    "Explanation": re.compile(
        r"\W*(?:explanation|rationale|reason|comment|justification|remarks?|why)", re.I
    ),
    "Evidence": re.compile(r"\W*(?:evidence|quot)", re.I),
}
MAX_ROWS = 500


def table_rows(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every row of a table with a column of scores: the cells that may name its criterion, and the rest as labelled
    words. Time is linear in the text.

    >>> list(table_rows("| Aspect | Score |\\n|---|---|\\n| Clarity | 4 |"))
    [(('Clarity',), 'Score: 4')]
    """
    columns: dict[int, str] = {}
    above: list[str] = []
    for line in text.split("\n")[:MAX_ROWS]:
        cells = _split(line)
        if cells is None:
            columns, above = {}, []
        elif _RULE.fullmatch(line.strip()):
            columns = _name_columns(above)
        elif "Score" in columns.values():
            names = tuple(cell for at, cell in enumerate(cells) if at not in columns)
            said = (f"{columns[at]}: {cell}" for at, cell in enumerate(cells) if at in columns)
            yield names, " ".join(said)
        else:
            above = cells


def _split(line: str) -> list[str] | None:
    stripped = line.strip()
    if stripped.count("|") < 2:
        return None
    return [cell.strip(" \t*_`") for cell in _CELLS.split(stripped.strip("|"))]


def _name_columns(heads: list[str]) -> dict[int, str]:
    """Which column holds which part; the first of a kind counts."""
    columns: dict[int, str] = {}
    for at, head in enumerate(heads):
        for name, pattern in _COLUMNS.items():
            if name not in columns.values() and pattern.match(head):
                columns[at] = name
                break
    return columns
