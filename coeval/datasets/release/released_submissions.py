"""What each person of the public CoEval release did to a draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from coeval.datasets.release.release_lines import SCALE, Line, read_row_score, read_time
from coeval.datasets.release.released_drafts import RUN, kind_at
from coeval.datasets.release.released_files import Record
from coeval.domain import Action, ImportedDraft, ImportedSubmission, RowKind, ScrutinyRow


def build_submission(
    person: str, instance: str, record: Record, draft: ImportedDraft | None, tally: Counter[str]
) -> ImportedSubmission:
    """One submission, with the score that was typed; what is odd about it goes into ``tally``."""
    rows = tuple(_build_rows(record.lines, draft, tally))
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


def _build_rows(
    lines: Sequence[Line], draft: ImportedDraft | None, tally: Counter[str]
) -> Iterator[ScrutinyRow]:
    """Each line that carries an action, with the drafted line of its text and the kind of that.

    A line the draft does not hold is of the kind its place says, or evidence where a line of this kind is drafted.
    """
    drafted = list(draft.rows) if draft else []
    places = _find_places(lines, [row.text for row in drafted], tally)
    kinds = {drafted[place].kind for place in places if place is not None}
    for position, (line, place) in enumerate(zip(lines, places, strict=True)):
        if line.action is None:
            tally["no_action"] += 1
            continue
        tally["not_drafted"] += place is None and line.action is not Action.ADD
        _count_wording(line, tally)
        own = kind_at(position) if kind_at(position) not in kinds else RowKind.EVIDENCE
        kind = own if place is None else drafted[place].kind
        yield ScrutinyRow(kind, line.action, place, line.reason, line.text)


def _find_places(lines: Sequence[Line], drafted: Sequence[str], tally: Counter[str]) -> list[int | None]:
    """Which drafted line each line acts on; None for one that was added or that the draft does not hold."""
    used: set[int] = set()
    places: list[int | None] = []
    for line in lines:
        acted = line.action not in (None, Action.ADD)
        place = _find_line(line.original, drafted, used) if acted else None
        tally["same_line"] += place in used
        used |= set() if place is None else {place}
        places.append(place)
    return places


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
