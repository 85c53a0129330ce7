"""A made-up study that people have scored, some of it blind."""

from __future__ import annotations

from dataclasses import replace

from coeval.domain import Action, Arm, ImportedSubmission, RowKind, ScrutinyRow, Study
from tests.conftest import make_study


def scored(names: list[str], n_documents: int = 6, blind: int = 0) -> Study:
    """The made-up study with scores: person k is k points off on every third unit; the first ``blind``
    documents were scored without the draft, whose scores are 2, 3, 4, 2 ..."""
    study = make_study(n_documents)
    drafts = tuple(replace(one, score=float(2 + n // 2 % 3)) for n, one in enumerate(study.runs[0].drafts))
    study = replace(study, runs=(replace(study.runs[0], drafts=drafts),))
    work = []
    for k, name in enumerate(names):
        for place, instance in enumerate(study.instances):
            arm = Arm.BLIND if place < 2 * blind else Arm.ASSISTED
            for position, criterion in enumerate(study.criteria):
                score = (place + position) % 4 + 1 + (k if (place + k) % 3 == 0 else 0)
                start = f"2026-01-0{k + 1}T09:{place:02}:{10 * position:02}.000Z"
                end = f"2026-01-0{k + 1}T09:{place:02}:{10 * position + 7:02}.000Z"
                work.append(
                    ImportedSubmission(
                        name,
                        instance.external_id,
                        criterion.text,
                        float(min(score, 5)),
                        _rows(min(score, 5), 2 + place % 3) if arm is Arm.ASSISTED else (),
                        start,
                        end,
                        arm,
                        "first",
                    )
                )
    return replace(study, submissions=tuple(work))


def _rows(score: int, drafted: int) -> tuple[ScrutinyRow, ...]:
    kept = score == drafted
    return (
        ScrutinyRow(RowKind.CONCLUSION, Action.APPROVE, 0),
        ScrutinyRow(
            RowKind.SCORE, Action.APPROVE if kept else Action.REVISE, 1, text="" if kept else str(score)
        ),
        ScrutinyRow(RowKind.EVIDENCE, Action.DELETE, 2),
        ScrutinyRow(RowKind.EVIDENCE, Action.APPROVE, 3),
    )
