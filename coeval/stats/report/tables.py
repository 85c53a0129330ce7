"""Tables for the report, the Agreement tab and the downloads, also as Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False)
class Table:
    """A table with its ``name`` (for files and labels), ``title``, ``note`` and ``frame``."""

    name: str
    title: str
    note: str
    frame: pd.DataFrame


def make_table(
    name: str, title: str, note: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> Table:
    """Return a table with these columns of the rows. Counts stay integers, even if some are missing."""
    values = [{column: row.get(column) for column in columns} for row in rows]
    frame = pd.DataFrame(values, columns=list(columns), dtype=object)
    return Table(name, title, note, frame.apply(_typed))


def _typed(column: pd.Series[Any]) -> pd.Series[Any]:
    there = column.dropna()
    if len(there) and all(type(value) is int for value in there):
        return column.astype("Int64")
    # pandas would make nan of None, so that a cell that does not apply would look like an undefined figure
    return column if any(value is None for value in column) else column.infer_objects()


# Tables as Markdown and LaTeX, with escaped text.

WIDE = 8
"""The number of columns from which a LaTeX table is scaled to fit the page."""

MISSING = "–"
LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    MISSING: "--",
}


def tables_markdown(tables: Sequence[Table]) -> str:
    """Return the tables as Markdown, with titles and notes.

    >>> print(tables_markdown([Table("t", "Odd | cells", "A note.", pd.DataFrame({"x": ["a|b"], "r": [0.5]}))]))
    **Odd \\| cells**
    <BLANKLINE>
    | x | r |
    |:---|---:|
    | a\\|b | 0.500 |
    <BLANKLINE>
    A note.
    <BLANKLINE>
    """
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    head = "| " + " | ".join(_escape_markdown(_heading(column)) for column in table.frame.columns) + " |"
    rule = (
        "|" + "|".join("---:" if _is_number(table.frame[column]) else ":---" for column in table.frame) + "|"
    )
    rows = ["| " + " | ".join(_escape_markdown(value) for value in row) + " |" for row in _rows(table)]
    return "\n".join(
        [f"**{_escape_markdown(table.title)}**", "", head, rule, *rows, "", _escape_markdown(table.note), ""]
    )


def tables_latex(tables: Sequence[Table]) -> str:
    """Return the tables as LaTeX floats for a document that loads booktabs.

    >>> print(tables_latex([Table("t", "Cost & effect", "100%.", pd.DataFrame({"x_1": ["$5"]}))]))
    \\begin{table}
    \\centering
    \\caption{Cost \\& effect. 100\\%.}
    \\label{tab:t}
    \\begin{tabular}{l}
    \\toprule
    x 1 \\\\
    \\midrule
    \\$5 \\\\
    \\bottomrule
    \\end{tabular}
    \\end{table}
    <BLANKLINE>
    """
    return "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    shape = "".join("r" if _is_number(table.frame[column]) else "l" for column in table.frame)
    rows = [" & ".join(_escape_latex(value) for value in row) + r" \\" for row in _rows(table)]
    head = " & ".join(_escape_latex(_heading(column)) for column in table.frame.columns) + r" \\"
    # a table with many columns spans both columns of a page and is scaled to fit (package graphicx)
    wide = len(shape) > WIDE
    place = "table*" if wide else "table"
    return "\n".join(
        [
            rf"\begin{{{place}}}",
            r"\centering",
            rf"\caption{{{_escape_latex(table.title)}. {_escape_latex(table.note)}}}",
            rf"\label{{tab:{_label(table.name)}}}",
            *([r"\resizebox{\textwidth}{!}{%"] if wide else []),
            rf"\begin{{tabular}}{{{shape}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}" + ("}" if wide else ""),
            rf"\end{{{place}}}",
            "",
        ]
    )


def column_cells(column: pd.Series[Any]) -> list[str]:
    """Return a column's cells: whole counts, other numbers to three decimals, missing values as a dash.

    >>> column_cells(pd.Series([2.0, 2.5, None])), column_cells(pd.Series([2, None], dtype="Int64"))
    (['2.000', '2.500', '–'], ['2', '–'])
    """
    return [
        MISSING
        if value is None or pd.isna(value)
        else f"{value:.3f}"
        if isinstance(value, float)
        else str(value)
        for value in column
    ]


def _rows(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*(column_cells(table.frame[column]) for column in table.frame), strict=True))


def _heading(column: Any) -> str:
    return str(column).replace("_", " ")


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.infer_objects()))


def _flat(text: Any) -> str:
    return re.sub(r"\s+", " ", str(text)).strip()


def _escape_markdown(text: Any) -> str:
    return re.sub(r"([\\|*_`\[\]#])", r"\\\1", _flat(text)).replace("<", "&lt;").replace(">", "&gt;")


def show_tags(text: str) -> str:
    """Return a text for a Markdown file in which HTML is shown as text; all else is unchanged.

    >>> show_tags("p < .05, <img src=x> &lt;b>")
    'p < .05, &lt;img src=x> &amp;lt;b>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", re.sub(r"&(?=#?\w+;)", "&amp;", text))


def _escape_latex(text: Any) -> str:
    """Return a text with LaTeX's special characters escaped.

    >>> _escape_latex("*50%"), _escape_latex("[1cm]")
    ('{}*50\\\\%', '{}[1cm]')
    """
    escaped = "".join(LATEX.get(letter, letter) for letter in _flat(text))
    # after the end of a row or a rule, LaTeX would read a star or a bracket as its argument
    return f"{{}}{escaped}" if escaped.startswith(("*", "[")) else escaped


def _label(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9:-]+", "-", name)
