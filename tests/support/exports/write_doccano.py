"""Writes doccano's exports among the tests' data with its own formatters and writer: two people, two texts.

``python write_doccano.py FOLDER`` in an environment of its own (doccano 1.8.4 without what it depends on, pandas). Its
records stand in a database of Django; here they are plain objects that answer as its ``data_export.models`` do.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import backend
import pandas as pd

models = ModuleType("data_export.models")
models.DATA = "data"
sys.modules["data_export.models"] = models
pipeline = ModuleType("data_export.pipeline")
pipeline.__path__ = [str(Path(backend.__path__[0]) / "data_export" / "pipeline")]
sys.modules["data_export"] = ModuleType("data_export")
sys.modules["data_export.pipeline"] = pipeline

from data_export.pipeline.formatters import (  # noqa: E402
    ListedCategoryFormatter,
    RenameFormatter,
    TupledSpanFormatter,
)
from data_export.pipeline.writers import JsonlWriter  # noqa: E402


@dataclass
class Span:
    start_offset: int
    end_offset: int
    label: str

    def to_tuple(self) -> tuple[int, int, str]:
        return self.start_offset, self.end_offset, self.label


@dataclass
class Comment:
    text: str

    def to_string(self) -> str:
        return self.text


BEANS = {"id": 7, "data": "🫘 Two fingers deep, in May.", "plot": "007"}
OTHER = {"id": 8, "data": "NA", "plot": ""}
MEASURE, MONTH, WHOLE = Span(2, 13, "MEASURE"), Span(23, 26, "MONTH"), Span(0, 2, "MEASURE")
WORK = {
    "ann": [(BEANS, [MEASURE, MONTH], [Comment("Fine")]), (OTHER, [], [])],
    "bo": [(BEANS, [MONTH], []), (OTHER, [WHOLE], [])],
}
FORMATTERS = (
    TupledSpanFormatter("entities"),
    ListedCategoryFormatter("Comments"),
    RenameFormatter(data="text", entities="label"),
)
"""As ``create_formatter`` chooses them for sequence labelling as JSON Lines."""


def main(folder: Path) -> None:
    (folder / "doccano").mkdir(exist_ok=True)
    for person, work in WORK.items():
        table = pd.DataFrame(
            {**example, "entities": spans, "Comments": said} for example, spans, said in work
        )
        for formatter in FORMATTERS:
            table = formatter.format(table)
        JsonlWriter.write(folder / "doccano" / f"{person}.jsonl", table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
