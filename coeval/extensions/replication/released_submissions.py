"""The drafts of the public CoEval release, and each person's actions on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from coeval.domain import (
    Action,
    EvaluationRow,
    ImportedDraft,
    ImportedSubmission,
    Instance,
    RowKind,
    Run,
    ScrutinyRow,
)
from coeval.extensions.replication.released_files import (
    SCALE,
    Line,
    Record,
    is_header,
    read_model_score,
    read_row_score,
    read_time,
)
from coeval.llm.reading.quotes import find_quotes

RUN = Run(
    protocol="imported",
    model="as released",
    label="released draft",
    params={"source": "the public CoEval release", "protocol": "coeval"},
    shown=True,
)
"""The run of a release. The files do not name its model or parameters."""


def kind_at(position: int) -> RowKind:
    """Return the kind of a line from its position among the lines that are not headers: conclusion, score,
    then evidence.
    """
    return (RowKind.CONCLUSION, RowKind.SCORE)[position] if position < 2 else RowKind.EVIDENCE


def choose_lines(seen: Sequence[Sequence[Line]], text: str, tally: Counter[str]) -> tuple[str, ...]:
    """Return the drafted lines of one pair in the version that most people saw, or the first such version.

    If nobody scrutinised the pair, return the lines of the model's text.
    """
    lists = [tuple(line.original for line in lines if line.original) for lines in seen]
    lists = [lines for lines in lists if lines]
    if not lists:
        lines = (line.strip() for line in text.splitlines())
        return tuple(line for line in lines if line and not is_header(line))
    tally["drafts_differ"] += len(set(lists)) > 1
    return Counter(lists).most_common(1)[0][0]


def build_draft(
    instance: Instance, criterion: str, lines: Sequence[str], text: str, tally: Counter[str]
) -> ImportedDraft:
    """Return one draft. Its score is read from the model's whole text, else from its lines, else it is unscored."""
    score = read_model_score(text)
    if score is None:
        score = read_model_score("\n".join(lines))
    reason = "" if score is not None else "the model's text states no score"
    if score is not None and not SCALE.low <= score <= SCALE.high:
        score, reason = None, f"the score stated, {score:g}, is off the scale {SCALE}"
    tally["unscored"] += score is None
    rows = tuple(_build_row(position, line, instance) for position, line in enumerate(lines))
    return ImportedDraft(instance.external_id, criterion, score, rows, reason=reason, raw=text)


def _build_row(position: int, line: str, instance: Instance) -> EvaluationRow:
    kind = kind_at(position)
    quotes = find_quotes(line, instance.output, instance.input) if kind is RowKind.EVIDENCE else ()
    return EvaluationRow(kind, line, quotes)


# Each person's actions on a draft of the public CoEval release.


def build_submission(
    person: str, instance: str, record: Record, draft: ImportedDraft | None, tally: Counter[str]
) -> ImportedSubmission:
    """Return one submission with the typed score. ``tally`` counts irregularities."""
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
    """Yield each line with an action, the matching drafted line, and its kind.

    An unknown line gets the kind of its position, or evidence if the draft has a line of this kind. If a
    drafted line has two actions, the first one is used. A second revision of evidence is kept, because it is
    in the person's own words.
    """
    drafted = list(draft.rows) if draft else []
    places = _find_places(lines, [row.text for row in drafted])
    kinds = {drafted[place].kind for place in places if place is not None}
    acted: set[int] = set()
    for position, (line, place) in enumerate(zip(lines, places, strict=True)):
        if line.action is None:
            tally["no_action"] += 1
            continue
        if place is not None and place in acted:
            kept = drafted[place].kind is RowKind.EVIDENCE and line.action is Action.REVISE
            tally["same_line" if kept else "second_action"] += 1
            if not kept:
                continue
        acted |= set() if place is None else {place}
        tally["not_drafted"] += place is None and line.action is not Action.ADD
        _count_wording(line, tally)
        row_kind = kind_at(position) if kind_at(position) not in kinds else RowKind.EVIDENCE
        kind = row_kind if place is None else drafted[place].kind
        yield ScrutinyRow(kind, line.action, place, line.reason, line.text)


def _find_places(lines: Sequence[Line], drafted: Sequence[str]) -> list[int | None]:
    """Return the position of each line's drafted line; None for added and unknown lines."""
    used: set[int] = set()
    places: list[int | None] = []
    for line in lines:
        acted = line.action not in (None, Action.ADD)
        place = _find_line(line.original, drafted, used) if acted else None
        used |= set() if place is None else {place}
        places.append(place)
    return places


def _find_line(text: str, drafted: Sequence[str], used: set[int]) -> int | None:
    """Return the first unused drafted line with this text, or the first one with this text if all are used."""
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
    """Return the score in the person's score row: the draft's score if approved, or the new score if revised."""
    row = next((row for row in rows if row.kind is RowKind.SCORE), None)
    if row is None or row.action is Action.DELETE:
        return None
    if row.action is Action.APPROVE:
        return draft.score if draft else None
    return read_row_score(row.text)
