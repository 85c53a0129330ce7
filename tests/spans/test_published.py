"""Published campaigns: their segment scores.

The campaigns are others' data, in a folder beside the project. A small campaign of our own takes the same path.
"""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from coeval.extensions.spans.annotations import Further, score_segments
from coeval.extensions.spans.study import get_format
from coeval.extensions.spans.typology import load_typology
from tests.conftest import SHARED

ESA = load_typology("esa")
FOLDER = SHARED / "esa"
given = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the published ESA campaigns are not beside the project"
)


def load(name: str, folder: Path = FOLDER, typology=ESA, arm: str = ""):
    further = Further(folder / "items.csv.gz", folder / "en-de.docs", folder / "annotators.csv", arm)
    return get_format("esa-csv").read(folder / name, typology, further)


@given
@pytest.mark.parametrize(
    ("campaign", "scores", "typology"),
    [
        ("240315rc5ESA.csv", "ESA-1", "esa"),
        ("240520rc6ESA.csv", "ESA-2", "esa"),
        ("240315rc5GEMBA.csv", "ESAAI-1", "esa"),
        ("240520rc6GEMBA.csv", "ESAAI-2", "esa"),
        ("240315rc5MQM.csv", "MQM-1", "mqm"),
    ],
)
def test_the_published_scores_are_reproduced(campaign: str, scores: str, typology: str) -> None:
    published: dict[tuple[str, int], float] = {}
    lines: Counter[str] = Counter()
    for line in (FOLDER / f"en-de.{scores}.seg.score").read_text(encoding="utf-8").splitlines():
        system, score = line.split("\t")
        if score != "None":
            published[system, lines[system]] = float(score)
        lines[system] += 1
    kind = load_typology(typology)
    found = score_segments(load(campaign, typology=kind).annotations, kind)
    assert len(found) == 2691 and found == pytest.approx(published, abs=1e-6)


def make_campaign(folder: Path) -> None:
    """Write a campaign with all that a real one has: a split document, a pair, a break, a save that was replaced."""
    texts = ["Das rote Haus.", "Eine Katze sitzt.", "Gute Nacht."]
    rows = ["itemID,documentID,line,targetText"]
    rows += [f'{line + 1},tale#S,{line},"{text}"' for line, text in enumerate(texts)]
    # system T is split between two logins, and both call a line their item 1: the list knows only one of them
    rows += [f'1,tale#T,1,"{texts[1]}"', f'2,tale#T,2,"{texts[2]}"']
    rows += ['9,tale#S#bad1,1,"Eine Wolke sitzt."', '1,tutorial#S,0,"x"']
    with gzip.open(folder / "items.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    (folder / "en-de.docs").write_text("x\ttale\n" * 3, encoding="utf-8")
    (folder / "annotators.csv").write_text(
        "\ufeffAnnotatorID,protocol,login\nana,E,in1\nana,E,in2\n", encoding="utf-8"
    )
    kept, own = (
        '{""start_i"":4,""end_i"":8,""severity"":""minor""}',
        '{""start_i"":0,""end_i"":2,""severity"":""major"",""error_type"":null}',
    )
    saves = [
        "in1,w.S,1,TGT,e,d,80,tutorial#S,False,[],1,1",
        f'in1,w.S,1,TGT,e,d,70,tale#S,False,"[{kept},{own}]",100,101',
        "in1,w.S,2,TGT,e,d,10,tale#S,False,[],110,111",
        "in1,w.S,2,TGT,e,d,90,tale#S,False,[],120,121",
        'in1,w.S,9,BAD,e,d,40,tale#S#bad1,False,"[{""start_i"":5,""end_i"":9,""severity"":""major"",""error_type"":null}]",150,151',
        "in1,w.S,3,TGT,e,d,60,tale#S,False,[],190,191",
        "in1,w.T,1,TGT,e,d,50,tale#T,False,[],1000,1001",
        "in2,w.T,1,TGT,e,d,30,tale#T,False,[],2000,2001",
        "in2,w.T,2,TGT,e,d,20,tale#T,False,[],2010,2011",
        "in2,w.T,2,TGT,e,d,1,tale#T#duplicate1,False,[],2020,2021",
    ]  # fmt: skip
    (folder / "a.csv").write_text("\n".join(saves) + "\n", encoding="utf-8")


def test_a_campaign_of_our_own_is_read_as_it_was_made(tmp_path: Path) -> None:
    make_campaign(tmp_path)
    found = load("a.csv", tmp_path, arm="assisted")
    # the later save counts; the split document fills its three lines in the order of logins and items
    assert score_segments(found.annotations, ESA) == {
        ("S", 0): 70.0, ("S", 1): 90.0, ("S", 2): 60.0, ("T", 0): 50.0, ("T", 1): 30.0, ("T", 2): 20.0,
    }  # fmt: skip
    first = found.annotations[0]
    assert [first.output[slice(*span.edges)] for span in first.spans] == ["rote", "Das"]
    assert first.annotator == "ana"
    assert found.notes == (
        "Saves of tutorials, planted errors and repeated documents, left out: 3.",
        "Saves that the same person replaced: 1.",
    )
