"""What each person of the public CoEval release did to a draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from coeval.datasets.release.drafts import RUN, SCALE, kind_at
from coeval.datasets.release.files import Record
from coeval.datasets.release.lines import Line, read_row_score, read_time
from coeval.domain import Action, ImportedDraft, ImportedSubmission, RowKind, ScrutinyRow


def build_submission(
    person: str, instance: str, record: Record, draft: ImportedDraft | None, tally: Counter[str]
) -> ImportedSubmission:
    """One submission, with the score that was typed; what is odd about it goes into ``tally``."""
    rows = tuple(_build_rows(record.lines, _drafted(draft), tally))
    opened, submitted = read_time(record.start), read_time(record.end)
    _count_oddities(record, rows, draft, tally)
    tally["headers"] += record.headers
    tally["no_start"] += not opened
    tally["no_end"] += not submitted
    tally["ends_before_start"] += bool(opened and submitted and submitted < opened)
    return ImportedSubmission(
        person=person,
        instance=instance,
        criterion=record.criterion,
        score=record.score,
        rows=rows,
        opened_at=opened,
        submitted_at=submitted,
        run=RUN.label if draft else "",
    )


def _drafted(draft: ImportedDraft | None) -> list[str]:
    return [row.text for row in draft.rows] if draft else []


def _build_rows(lines: Sequence[Line], drafted: Sequence[str], tally: Counter[str]) -> Iterator[ScrutinyRow]:
    """Each line that carries an action, its kind by its place, its drafted line by its text."""
    used: set[int] = set()
    for position, line in enumerate(lines):
        if line.action is None:
            tally["no_action"] += 1
            continue
        draft_row = None if line.action is Action.ADD else _find_line(line.original, drafted, used)
        tally["not_drafted"] += draft_row is None and line.action is not Action.ADD
        tally["same_line"] += draft_row in used
        used |= set() if draft_row is None else {draft_row}
        _count_wording(line, tally)
        yield ScrutinyRow(kind_at(position), line.action, draft_row, line.reason, line.text)


def _find_line(text: str, drafted: Sequence[str], used: set[int]) -> int | None:
    """The first drafted line of that text not yet acted on; the first of that text when all are."""
    places = [place for place, line in enumerate(drafted) if line == text]
    return next((place for place in places if place not in used), places[0] if places else None)


def _count_wording(line: Line, tally: Counter[str]) -> None:
    if line.action in (Action.REVISE, Action.ADD):
        tally["no_reason"] += not line.reason
        tally["no_wording"] += not line.text


def _count_oddities(
    record: Record, rows: Sequence[ScrutinyRow], draft: ImportedDraft | None, tally: Counter[str]
) -> None:
    tally["no_score"] += record.score is None
    tally["odd_score"] += record.score is not None and not SCALE.admits(record.score)
    stated = _stated_score(rows, draft)
    tally["scores_disagree"] += None not in (stated, record.score) and stated != record.score


def _stated_score(rows: Sequence[ScrutinyRow], draft: ImportedDraft | None) -> float | None:
    """The score the person's score row states: the draft's where kept, the new wording's where revised."""
    row = next((row for row in rows if row.kind is RowKind.SCORE), None)
    if row is None or row.action is Action.DELETE:
        return None
    if row.action is Action.APPROVE:
        return draft.score if draft else None
    return read_row_score(row.text)
