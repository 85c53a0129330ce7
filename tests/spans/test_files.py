"""Files of spans: what is read, what goes out and comes back the same, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, Further, collect, score_segments
from coeval.extensions.spans.study import get_format
from coeval.extensions.spans.typology import Side, Span, load_typology, parse_typology

WMT, ESA = load_typology("wmt"), load_typology("esa")
HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
MQM = HEAD + (
    "A\tnews\t1\t1\trater1\tOne cat.\tEine <v>Hund</v>.\tAccuracy/Mistranslation\tMajor\n"
    "A\tnews\t1\t1\trater1\tOne <v>cat</v>.\tEine Hund.\tAccuracy/Omission\tMinor\n"
    "A\tnews\t1\t1\trater2\tOne cat.\tEine Hund.\tNo-error\tno-error\n"
    "A\tnews\t2\t2\trater1\t\"Two\t„Zwei<v>“</v>\tFluency/Punctuation\tMinor\n"
    "A\tnews\t2\t2\trater2\t\"Two\t<v>„Zwei“</v>\tNon-translation!\tMajor\n"
    "B\tnews\t1\t1\trater1\tOne cat.\tEine Katze.\tNo-error\tno-error\n"
    "B\tnews\t2\t2\trater1\t\"Two\tZwei <v>so</v>\tSource error\tMajor\n"
)  # fmt: skip


def read(tmp_path: Path, name: str, text: str, format: str, typology=WMT, further: Further | None = None):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return get_format(format).read(path, typology, further or Further())


def write(collection, format: str, typology=WMT) -> str:
    return get_format(format).write(collection, typology)


def test_mqm_rows_become_spans_and_scores(tmp_path: Path) -> None:
    found = read(tmp_path, "a.tsv", MQM, "mqm-tsv")
    first = found.annotations[0]
    assert first.spans == (
        Span(5, 9, "Major", "Accuracy/Mistranslation"),
        Span(4, 7, "Minor", "Accuracy/Omission", Side.INPUT),
    )
    assert (first.source, first.output, first.segment, first.document) == (
        "One cat.",
        "Eine Hund.",
        0,
        "news",
    )
    # segment 1: rater 1 has 5 + 1, rater 2 none; segment 2: .1 and 25; an error of the source counts as
    # in the scores that WMT publishes
    scores = score_segments(found.annotations, WMT)
    assert scores == {("A", 0): -3.0, ("A", 1): pytest.approx(-12.55), ("B", 0): 0.0, ("B", 1): -5.0}


def test_later_years_name_the_columns_otherwise_and_count_segments_by_document(tmp_path: Path) -> None:
    later = MQM.replace("doc_id\tseg_id", "docSegId\tglobalSegId").replace("news\t2\t2", "talk\t1\t1")
    found = read(tmp_path, "a.tsv", later, "mqm-tsv")
    # the number 1 names a segment of either document, so both count in the order in which they come
    assert {(one.document, one.segment) for one in found.annotations} == {("news", 0), ("talk", 1)}


def test_rows_that_are_no_ratings_are_left_out_and_counted(tmp_path: Path) -> None:
    tests = (
        "A\tnews\t1\t1\trater1\tOne cat.\tEine <v>Wolke</v>.\tFound\tHOTW-test\n\tcanary\t1\t1\t\tx\ty\t\t\n"
    )
    found = read(tmp_path, "a.tsv", MQM + tests, "mqm-tsv")
    assert score_segments(found.annotations, WMT)["A", 0] == -3.0
    assert found.notes == (
        "Rows with tests of raters, left out: 1.",
        "Rows without a rater, left out: 1.",
    )


def test_a_mark_that_does_not_fit_costs_its_error_the_place_and_not_the_weight(tmp_path: Path) -> None:
    bad = ("Eine <v>Hund.", "Eine Hund</v>.", "Eine <v></v>Hund.", "Ein <v>Hund</v>.")
    rows = "".join(
        f"A\tnews\t1\t1\trater1\tOne cat.\t{text}\tStyle/Awkward\tMajor\n"
        for text in ("Eine <v>Hund</v>.", *bad)
    )
    found = read(tmp_path, "a.tsv", HEAD + rows, "mqm-tsv")
    (one,) = found.annotations
    assert [span.placed for span in one.spans] == [True] + [False] * len(bad) and WMT.score(one.spans) == -25
    assert found.notes == ("Errors without a place, because their marks do not match the text: 4.",)


def test_cells_behind_the_severity_may_be_missing_and_quotes_begin_no_cell(tmp_path: Path) -> None:
    rows = MQM.replace("severity", "severity\tmetadata", 1).replace("Katze.\t", 'Katze."\t')
    found = read(tmp_path, "a.tsv", "\ufeff" + rows.replace("\n", "\r\n"), "mqm-tsv")
    assert [one.output for one in found.annotations if one.system == "B"] == ['Eine Katze."', "Zwei so"]
    assert score_segments(found.annotations, WMT)["A", 1] == pytest.approx(-12.55)


def test_ratings_with_the_columns_of_three_raters(tmp_path: Path) -> None:
    text = (
        "year\tsource_lang\ttarget_lang\tdocument_id\tdoc_segment_id\tsystem_id\trater_id\tsource\treference"
        "\tcandidate\tcategory\tseverity\n2022\ten\tzh\tnews\t1\tA\tr1\tx\tz\t<v>y</v>\tnon_translation\tmajor\n"
        "2022\ten\tzh\tnews\t1\tA\tr2\tx\tz\ty\tno-error\tno-error\n"
    )
    assert score_segments(read(tmp_path, "a.tsv", text, "mqm-tsv").annotations, WMT) == {("A", 0): -12.5}


def test_a_campaign_without_scores_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No annotation has a score from 0 to 100"):
        write(read(tmp_path, "a.tsv", MQM, "mqm-tsv"), "esa-csv", ESA)


def rich_collection():
    text = "שלום עולם, das ist gut 🙂 so"
    return collect(
        [
            Annotation("A", 0, "ana", (Span(0, 4, "Major", "Accuracy/Addition"), Span(2, 9, "Minor", "Other")),
                       "d", "Peace.", text),
            Annotation("A", 0, "ben", (Span(0, 5, "Minor", "Accuracy/Omission", Side.INPUT),), "d", "Peace.", text),
            Annotation("A", 1, "ana", (Span(None, None, "Major", "Accuracy/Omission"),), "d", "More.", text),
            Annotation("B", 0, "ana", (), "d", "Peace.", "Gut."),
        ]
    )  # fmt: skip


def test_spans_come_back_as_they_went_out(tmp_path: Path) -> None:
    sent = rich_collection()
    got = read(tmp_path, "out.txt", write(sent, "mqm-tsv"), "mqm-tsv")

    def essence(collection):
        return sorted(
            (one.system, one.segment, one.annotator, one.spans, one.document, one.source, one.output)
            for one in collection.annotations
        )

    assert essence(got) == essence(sent)


def test_an_esa_campaign_comes_back_as_it_went_out(tmp_path: Path) -> None:
    spans = (Span(0, 4, "minor"), Span(6, 9, "major"), Span(None, None, "major"))
    sent = collect(
        [
            Annotation("A", 0, "ana", spans, "d", output="Gute Nacht, und so weiter", score=71.0, arm="assisted",
                       saved_at="2026-01-01T10:00:00.000Z"),
            Annotation("A", 1, "ana", (), "d", output="Ja.", score=100.0, arm="assisted",
                       saved_at="2026-01-01T10:01:30.000Z"),
        ]
    )  # fmt: skip
    got = read(tmp_path, "out.csv", write(sent, "esa-csv", ESA), "esa-csv", ESA).annotations
    assert [(one.spans, one.score, one.segment) for one in got] == [(spans, 71.0, 0), ((), 100.0, 1)]


def test_a_campaign_comes_back_line_by_line_in_whatever_order_people_worked(tmp_path: Path) -> None:
    """Two people share a document, each with a part of it, and began at different ends."""
    order = [("S", "ben", 7), ("S", "ana", 5), ("S", "ben", 4), ("S", "ana", 2), ("T", "ana", 5)]
    sent = collect(
        Annotation(
            system, line, who, (), "tale", score=float(10 * line), saved_at=f"2026-01-01T10:0{n}:00.000Z"
        )
        for n, (system, who, line) in enumerate(order)
    )
    got = read(tmp_path, "out.csv", write(sent, "esa-csv", ESA), "esa-csv", ESA)
    assert score_segments(got.annotations, ESA) == score_segments(sent.annotations, ESA)


def test_a_number_that_is_no_line_counts_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = MQM.replace("\t2\t2\t", "\t2\t" + "9" * 5000 + "\t")
    found = read(tmp_path, "a.tsv", text, "mqm-tsv")
    assert {one.segment for one in found.annotations} == {0, 1}


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("mqm-tsv", "system\trater\n", "no column “seg_id”"),
        ("mqm-tsv", "system\x00\n", "line 1: contains a NUL byte"),
        ("mqm-tsv", HEAD + "A\tnews\n", "line 2: 2 cells and 9 columns"),
        ("mqm-tsv", HEAD + "A\td\t1\t1\tr\ts\ty\tOther\t\n", "no severity"),
        ("esa-csv", "a,b,c\n", "line 1: has 3 cells"),
        ("esa-csv", 'l,x.A,1,TGT,e,d,50,d#A,False,"{}",1,1\n', "JSON list"),
        ("esa-csv", "l,x.A,1,TGT,e,d,101,d#A,False,[],1,1\n", "the score is “101”"),
        ("esa-csv", "l,x.A,1,TGT,e,d,nan,d#A,False,[],1,1\n", "the score is “nan”"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(format: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said.replace("[", r"\[")):
        read(tmp_path, "bad.txt", text, format)


def test_a_typology_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "tone.json"
    value = {
        "title": "Tone",
        "severities": [{"name": "light", "weight": 0.5}, {"name": "heavy", "weight": 2}],
        "categories": [{"name": "Rude"}, {"name": "Missing thanks", "side": "input"}],
        "weights": [["light/rude", 1]],
    }
    path.write_text(json.dumps(value), encoding="utf-8")
    tone = load_typology(str(path))
    assert tone.score([Span(0, 1, "light", "Rude"), Span(0, 1, "heavy", "Rude")]) == -3.0
    assert parse_typology(tone.to_json(), "tone") == tone
    with pytest.raises(InputError, match="no severity “Major”; its severities are: light, heavy"):
        tone.score([Span(0, 1, "Major", "Rude")])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "JSON object"),
        ({}, "severities: Field required"),
        ({"severities": [{"name": "a", "weight": -1}]}, "severities.0.weight"),
        ({"severities": [{"name": "a", "weight": True}]}, "severities.0.weight"),
        ({"severities": [{"name": " ", "weight": 1}]}, "severities.0.name"),
        ({"severities": [{"name": "a", "weight": 1}, {"name": "A", "weight": 2}]}, "a name twice"),
        ({"severities": [{"name": "a", "weight": 1}], "scoring": "best"}, "scoring"),
        ({"severities": [{"name": "a", "weight": 1}], "weights": ["x"]}, "weights.0"),
        (
            {"severities": [{"name": "a", "weight": 1}], "categories": [{"name": "x", "side": "up"}]},
            "categories.0.side",
        ),
    ],
)
def test_a_bad_typology_is_refused(value, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_typology(value, "own")


def test_a_span_has_to_be_in_its_text() -> None:
    good = Span(0, 3, "major", "Other")
    assert WMT.check_span(good, "abc", "abc") is good
    for bad in (
        replace(good, end=4),
        replace(good, start=3, end=3),
        replace(good, start=-1),
        replace(good, end=None),
        replace(good, severity="critical"),
        replace(good, category="Rude"),
    ):
        with pytest.raises(InputError):
            WMT.check_span(bad, "abc", "abc")
    with pytest.raises(InputError, match="not a category"):
        ESA.check_span(good, "abc", "abc")
