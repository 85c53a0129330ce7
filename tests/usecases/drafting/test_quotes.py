"""Where the passages that drafts quote are, as drafts.csv tells it."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import EvaluationRow, ImportedRun, Person, Quote, QuotePlace, RowKind, Study
from coeval.usecases.access import Context
from coeval.usecases.study_import import import_study
from tests.usecases.exported import read_export

EVIDENCE = (
    EvaluationRow(RowKind.EVIDENCE, "“The answer” is plain.", (Quote("The answer", 0, 10),)),
    EvaluationRow(RowKind.EVIDENCE, "“The answer by”", (Quote("The answer by", 0, 12, QuotePlace.NEAR),)),
    EvaluationRow(RowKind.EVIDENCE, "“Question” “none”", (Quote("Question", 0, 8, QuotePlace.INPUT), Quote("none"))),
    EvaluationRow(RowKind.EVIDENCE, "It is plain."),
)  # fmt: skip


def import_quotes(context: Context, owner: Person, study: Study) -> None:
    (run,) = study.runs
    first = run.drafts[0]
    rows = (
        EvaluationRow(RowKind.CONCLUSION, "It says “nothing”."),
        EvaluationRow(RowKind.SCORE, "4"),
        *EVIDENCE,
    )
    import_study(context, owner, replace(study, runs=(ImportedRun(run.run, (replace(first, rows=rows),)),)))


def test_each_place_is_counted_and_so_is_evidence_without_a_quotation(
    context: Context, owner: Person, study: Study
) -> None:
    import_quotes(context, owner, study)
    names = ("quotes", "quotes_not_found", "quotes_nearly", "quotes_in_input", "unquoted")
    lines = [tuple(line[name] for name in names) for line in read_export(context, owner, "drafts.csv")]
    assert lines == [
        ("0", "0", "0", "0", ""),
        ("0", "0", "0", "0", ""),
        ("1", "0", "0", "0", "0"),
        ("1", "0", "1", "0", "0"),
        ("2", "2", "0", "1", "0"),
        ("0", "0", "0", "0", "1"),
    ]
