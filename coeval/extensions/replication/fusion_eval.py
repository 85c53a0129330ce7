"""Fusion-Eval (Shu et al. 2024): tables 2 and 3 from your own runs, because its authors released no scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from coeval.errors import InputError
from coeval.extensions.replication.cells import Cell, Replication, load_published

STUDIES = {
    "summeval.json": ("SummEval", "Table 2", "system", "kendall", "tau-b of the systems' means"),
    "topical_chat.json": (
        "Topical-Chat",
        "Table 3",
        "dataset",
        "spearman",
        "Spearman's rho over all responses",
    ),
}
"""The files of a folder, each from ``coeval fusion --json``: study, table, level, coefficient and its name."""

FILES = " or ".join(STUDIES)


def replicate_fusion_eval(data: Path) -> Replication:
    """Return the agreement of your fused runs and their assistants with people, beside the printed values.

    Raises:
        InputError: the folder has none of the files, or one is not from ``coeval fusion --json``.
    """
    replication = Replication("Fusion-Eval (Shu et al. 2024)")
    for name, (study, *_) in STUDIES.items():
        if (data / name).is_file():
            replication.cells += _read(data / name)
        else:
            reason = f"the authors released no scores, and the folder has no {name}"
            replication.cells.append(Cell(study, "all", "all", "all", None, reason=reason))
    if all(cell.ours is None and cell.table == "all" for cell in replication.cells):
        raise InputError(
            f"{data} has no {FILES}: write them with “python -m coeval fusion --task TASK --run LABEL --json”."
        )
    replication.hold_against(load_published("fusion_eval"))
    replication.notes.append(
        "The printed values are of PaLM 2 or GPT-4 with assistants that are not released. Ours are of your own run."
    )
    return replication


def _read(path: Path) -> Iterator[Cell]:
    study, table, level, method, words = STUDIES[path.name]
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["fused_people"]
        for row in rows:
            if row["level"] == level:
                value = None if row[method] is None else float(row[method])
                reason = row["reason"] or f"{int(row['n'])} outputs"
                yield Cell(
                    study, table, str(row["judge"]), f"{row['criterion']}, {words}", value, reason=reason
                )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path.name} is not the output of “coeval fusion --json” ({error}).") from error
