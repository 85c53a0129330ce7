"""Agreement of spans, with known answers."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from coeval.extensions.spans.annotations import Annotation, collect
from coeval.extensions.spans.report import (
    Changes,
    compare_spans,
    compare_with_reference,
    count_changes,
    describe,
    find_tokens,
    label_tokens,
    measure_alpha,
    measure_systems,
)
from coeval.extensions.spans.typology import Side, Span, load_typology

WMT, ESA = load_typology("wmt"), load_typology("esa")
TEXT = "one two three four five six seven eight nine ten"


def words(*numbers: int, severity: str = "minor") -> Span:
    """A span from the first of these words to the last; words count from 0."""
    tokens = find_tokens(TEXT)
    return Span(tokens[numbers[0]][0], tokens[numbers[-1]][1], severity, "Other")


def marked(who: str, *spans: Span, segment: int = 0, text: str = TEXT, **more) -> Annotation:
    return Annotation("A", segment, who, spans, f"d{segment // 2}", "source", text, **more)


def test_tokens_of_a_script_without_spaces_are_characters() -> None:
    assert len(find_tokens("日本語のテスト!")) == 8 and len(find_tokens("مرحبا بالعالم")) == 2


def test_a_token_has_the_severest_label_of_its_spans() -> None:
    one = marked("ana", words(0, 2), words(2, 3, severity="major"), Span(None, None, "major", "Other"))
    minor, major = 2, 3  # neutral and no-error weigh 0 and rank first
    assert label_tokens(one, WMT) == [minor, minor, major, major, 0, 0, 0, 0, 0, 0]


def test_alpha_is_that_of_the_package() -> None:
    rng = np.random.default_rng(3)
    annotations, labels = [], {"ana": [], "ben": [], "cem": []}
    for segment in range(12):
        for who in labels:
            spans = [
                words(at, severity=("minor", "major")[rng.integers(2)])
                for at in range(10)
                if rng.random() < 0.3
            ]
            one = marked(who, *spans, segment=segment)
            annotations.append(one)
            labels[who] += label_tokens(one, WMT)
    found = collect(annotations)
    table = np.array(list(labels.values()))
    by_severity = krippendorff.alpha(table, level_of_measurement="nominal")
    assert measure_alpha(found, WMT, severities=True) == pytest.approx(by_severity, abs=1e-9)
    binary = measure_alpha(found, WMT)
    assert binary == pytest.approx(
        krippendorff.alpha(np.minimum(table, 1), level_of_measurement="nominal"), abs=1e-9
    )
    assert binary.clusters == 6 and binary.ci_low < binary < binary.ci_high and binary.n_units == 120


def test_alpha_that_is_undefined_says_why() -> None:
    assert "two people" in str(measure_alpha(collect([marked("ana")]), WMT).reason)
    assert "rating is the same" in str(measure_alpha(collect([marked("ana"), marked("ben")]), WMT).reason)
    unknown = [marked("ana", words(0), text=""), marked("ben", text="")]
    assert "unknown" in str(measure_alpha(collect(unknown), WMT).reason)


def test_precision_and_recall_by_hand() -> None:
    gold = collect([marked("gold", Span(0, 10, "major"), Span(20, 30, "minor"))])
    mine = collect([marked("ana", Span(5, 15, "minor"), Span(40, 44, "minor"))])
    found = compare_with_reference(mine, gold)
    # 5 characters of 14 are shared, at half the credit for another severity; 5 of 20 are found, at half again
    assert found["character precision"] == pytest.approx(2.5 / 14)
    assert found["character recall"] == pytest.approx(2.5 / 20)
    assert found["span precision"] == 0.5 and found["span recall"] == 0.5 and found["span F1"] == 0.5
    other = compare_with_reference(mine, collect([marked("gold", segment=7)]))
    assert other["span F1"].reason == "no segment is in both"


def test_what_became_of_a_draft() -> None:
    draft = [Span(0, 4, "minor"), Span(10, 14, "major"), Span(20, 24, "minor"), Span(30, 34, "minor")]
    saved = [Span(0, 4, "minor"), Span(10, 14, "minor"), Span(21, 28, "minor"), Span(50, 51, "minor")]
    assert compare_spans(draft, saved) == Changes(kept=1, moved=1, relabelled=1, deleted=1, added=1)
    assert compare_spans([], saved) == Changes(added=4) and compare_spans(draft, []) == Changes(deleted=4)
    # the same place on the other side is another place
    assert compare_spans([Span(0, 4, "minor", "", Side.INPUT)], [Span(0, 4, "minor")]) == Changes(
        deleted=1, added=1
    )
    marks = collect(
        [marked("ana", *saved, draft=tuple(draft)), marked("ben", *saved, segment=2, draft=tuple(draft))]
    )
    shares = count_changes(marks)
    assert shares["kept"] == 0.25 and shares["kept"].n == 8 and shares["added"] == 0.25


def test_the_report_names_what_is_undefined() -> None:
    found = describe(collect([marked("ana", words(0))]), WMT)
    assert found["draft"]["kept"].value.reason and found["systems"]["A"].value == -1.0
    unread = collect([marked("model", unscored="the answer is empty")])
    assert describe(unread, WMT)["unscored"] == {"the answer is empty": 1}
    assert not measure_systems(unread, WMT)["A"].defined
