"""Files of spans: what is read, what goes out and comes back the same, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.errors import InputError
from coeval.extensions.spans.annotations import Annotation, collect, score_segments, score_systems
from coeval.extensions.spans.esa_csv import find_changes
from coeval.extensions.spans.files import get_format, list_formats
from coeval.extensions.spans.reading import Further
from coeval.extensions.spans.score_files import compare_scores, load_scores
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
    reads = get_format(format, reads=True).read
    assert reads is not None
    return reads(path, typology, further or Further())


def write(collection, format: str, typology=WMT) -> str:
    writes = get_format(format, writes=True).write
    assert writes is not None
    return writes(collection, typology)


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
    assert score_systems(scores) == {"B": -2.5, "A": pytest.approx(-7.775)}


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


def test_lines_are_those_of_the_test_set_where_its_documents_are_listed(tmp_path: Path) -> None:
    """The ratings are of a part of the test set, and come in another order."""
    documents = tmp_path / "en-de.docs"
    documents.write_text("n\tother\nn\tother\nn\tnews\nn\tnews\nn\tnews\n", encoding="utf-8")
    rows = HEAD.replace("doc_id\tseg_id", "docSegId\tglobalSegId") + (
        "A\tnews\t3\t3\tr\tx\ty\tOther\tMajor\nA\tother\t2\t2\tr\tx\ty\tOther\tMinor\n"
        "A\tnews\t1\t1\tr\tx\ty\tNo-error\tNo-error\n"
    )
    found = read(tmp_path, "a.tsv", rows, "mqm-tsv", further=Further(documents=documents))
    assert score_segments(found.annotations, WMT) == {("A", 4): -5.0, ("A", 1): -1.0, ("A", 2): 0.0}
    assert write(found, "seg-score") == "A\tNone\nA\t-1.0\nA\t0.0\nA\tNone\nA\t-5.0\n"
    with pytest.raises(InputError, match="document “news” has 3 lines, but the ratings have its segment 4"):
        read(tmp_path, "b.tsv", rows.replace("3\t3", "4\t4"), "mqm-tsv", further=Further(documents=documents))


@pytest.mark.parametrize(
    "text",
    [
        "system mqm_avg_score seg_id\nA\t-3.000000 1\nA\t-12.550000 2\nA\tNone 3\nB\t-0.000000 1\nB\t-5.000000 2\n",
        "sys\thyp\tdomain\tdoc\tsource\tref\tscore\tseg_id\nA\tone\ttwo\tn\td\ts\tr\t-3.0\t1\nA\th\tn\td\ts\tr\t-12.55\t2\n"
        "B\th\tn\td\ts\tr\t0.0\t1\nB\th\tn\td\ts\tr\t-5.0\t2\n",
    ],
)
def test_averages_beside_the_ratings_are_compared(text: str, tmp_path: Path) -> None:
    """As published: cells apart by a tab here and a space there in one year, texts that hold tabs in another."""
    path = tmp_path / "averages.tsv"
    path.write_text(text, encoding="utf-8")
    published, lines = load_scores(path)
    found = compare_scores(read(tmp_path, "a.tsv", MQM, "mqm-tsv"), WMT, published, lines)
    assert (found["equal"], found["different"], found["only_published"], found["only_here"]) == (4, 0, 0, 0)
    assert found["systems_equal"] == 2


def test_scores_of_systems_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "en-de.mqm.sys.score"
    for text, equal in (("A\t-7.775\nB\t-2.5\n", 2), ("A\t-7.7\nB\t-2.5\n", 1)):
        path.write_text(text, encoding="utf-8")
        found = compare_scores(read(tmp_path, "a.tsv", MQM, "mqm-tsv"), WMT, *load_scores(path))
        assert (found["equal"], found["systems_equal"], found["only_here"]) == (equal, equal, 0)


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


@pytest.mark.parametrize("name", ["mqm-tsv", "thresh"])
def test_spans_come_back_as_they_went_out(name: str, tmp_path: Path) -> None:
    sent = rich_collection()
    got = read(tmp_path, "out.txt", write(sent, name), name)

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
                       kept=frozenset([0]), saved_at="2026-01-01T10:00:00.000Z"),
            Annotation("A", 1, "ana", (), "d", output="Ja.", score=100.0, arm="assisted",
                       saved_at="2026-01-01T10:01:30.000Z"),
        ]
    )  # fmt: skip
    got = read(tmp_path, "out.csv", write(sent, "esa-csv", ESA), "esa-csv", ESA).annotations
    assert [(one.spans, one.score, one.kept, one.segment) for one in got] == [
        (spans, 71.0, frozenset([0]), 0),
        ((), 100.0, frozenset(), 1),
    ]
    assert got[0].seconds == 90.0


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


def test_one_edit_of_thresh_is_one_error(tmp_path: Path) -> None:
    """Also in two parts, or in both texts; without a severity it costs what the lightest one does."""
    edits = [
        {"category": "split", "output_idx": [[0, 1], [4, 6]], "input_idx": [[0, 2]]},
        {
            "category": "deletion",
            "input_idx": [[2, 5]],
            "annotation": {"kind": {"severity": {"val": "major"}}},
        },
    ]
    text = json.dumps([{"original": "abcdefg", "simplified": "abcdefg", "edits": edits}])
    core = load_typology("mqm")
    (one,) = read(tmp_path, "a.json", text, "thresh", core).annotations
    assert one.spans == (Span(0, 6, "minor", "split"), Span(2, 5, "major", "deletion", Side.INPUT))
    assert core.score(one.spans) == -6.0


def test_a_number_that_is_no_line_counts_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = MQM.replace("\t2\t2\t", "\t2\t" + "9" * 5000 + "\t")
    found = read(tmp_path, "a.tsv", text, "mqm-tsv")
    assert {one.segment for one in found.annotations} == {0, 1}
    assert write(found, "seg-score").count("\n") == 4


def test_scores_come_back_as_they_went_out(tmp_path: Path) -> None:
    text = "A\t-1.1\nA\tNone\nB\t0.30000000000000004\nB\t-25.0\n"
    found = read(tmp_path, "a.score", text, "seg-score", ESA)
    assert write(found, "seg-score", ESA) == text
    assert write(found, "sys-score", ESA) == "A\t-1.1\nB\t-12.35\n"


def test_the_formats_have_names() -> None:
    assert set(list_formats()) == {"mqm-tsv", "esa-csv", "thresh", "seg-score", "sys-score"}
    with pytest.raises(InputError, match="“xml” is not a format"):
        get_format("xml", reads=True)


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("mqm-tsv", "system\trater\n", "no column “seg_id”"),
        ("mqm-tsv", HEAD + "A\tnews\n", "line 2: 2 cells and 9 columns"),
        ("mqm-tsv", HEAD + "A\td\t1\t1\tr\ts\ty\tOther\t\n", "no severity"),
        ("esa-csv", "a,b,c\n", "line 1: has 3 cells"),
        ("esa-csv", 'l,x.A,1,TGT,e,d,50,d#A,False,"{}",1,1\n', "JSON list"),
        ("esa-csv", "l,x.A,1,TGT,e,d,101,d#A,False,[],1,1\n", "the score is “101”"),
        ("esa-csv", "l,x.A,1,TGT,e,d,nan,d#A,False,[],1,1\n", "the score is “nan”"),
        ("thresh", "[", "is not JSON"),
        ("thresh", "[1]", "entry 1: it must be an object"),
        ("thresh", '[{"target": "abc", "edits": [{"output_idx": [[1, 9]]}]}]', "within the 3 characters"),
        ("thresh", '[{"target": 3}]', "“target” must be a text"),
        ("thresh", '[{"target": "\\ud800"}]', "entry 1"),
        ("thresh", '[{"target": "abc", "edits": [{"output_idx": 5}]}]', "an edit is at 5"),
        ("thresh", '[{"target": "abc", "edits": [{"output_idx": [[true, 2]]}]}]', "an edit is at [True, 2]"),
        ("thresh", '[{"target": "abc", "score": NaN}]', "the score is “nan”"),
        ("thresh", '[{"target": "abc", "segment": 1000000000000}]', "“segment” must be a whole number"),
        ("seg-score", "A 1 2\n", "line 1: “A 1 2”"),
        ("seg-score", "A\tx\n", "the score is “x”"),
        ("seg-score", "A\t1\x00\n", "NUL character in line 1"),
        ("seg-score", "", "line 1: “” is not a system"),
        ("seg-score", "system mqm_avg_score seg_id\nA\t-1.0\n", "line 2: 2 cells and 3 columns"),
        ("seg-score", "system mqm_avg_score seg_id\nA\t-1.0 x\n", "line 2: seg_id is “x”"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(format: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said.replace("[", r"\[")):
        read(tmp_path, "bad.txt", text, format)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(b"system\xff\n")
    with pytest.raises(InputError, match="not UTF-8 at byte 6"):
        get_format("mqm-tsv", reads=True).read(path, WMT, Further())  # type: ignore[misc]


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
        ({}, "has no severity"),
        ({"severities": [{"name": "a", "weight": -1}]}, "a weight is -1"),
        ({"severities": [{"name": "a", "weight": True}]}, "a weight is True"),
        ({"severities": [{"name": " "}]}, "needs a name"),
        ({"severities": [{"name": "a", "weight": 1}, {"name": "A", "weight": 2}]}, "a name twice"),
        ({"severities": [{"name": "a", "weight": 1}], "scoring": "best"}, "mqm or esa"),
        ({"severities": [{"name": "a", "weight": 1}], "weights": ["x"]}, "list of pairs"),
        (
            {"severities": [{"name": "a", "weight": 1}], "categories": [{"name": "x", "side": "up"}]},
            "output or input",
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


def test_the_changed_words_are_whole_and_in_the_text() -> None:
    assert find_changes("a b", "a b") == () and find_changes("", "a") == ()
    assert find_changes("ab", "abab") == ((0, 2),)
    for text, clean in (("one two three", "one three"), ("aaa", "aa"), ("x", "y"), ("cats", "cat")):
        ((start, end),) = find_changes(text, clean)
        assert 0 <= start < end <= len(text)
