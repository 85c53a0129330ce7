"""``judge.json`` is read back as it was written, holds no secret and no name, and hostile files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Criterion, Guide, Instance, Scale
from coeval.errors import InputError
from coeval.judge.artifact import judge_file
from coeval.judge.artifact.building import describe_questions
from coeval.judge.artifact.judge_file import load_judge, parse_judge, write_judge
from coeval.judge.fitted import Calibration, Fitted, Isotonic
from coeval.judge.parts import Example, mark_document
from tests.support.studies.judge_files import SALT, make_judge, make_protocol

KEY = "sk-proj-a1b2c3d4e5f6g7h8i9j0"
PEOPLE = ("Wilhelmina Grape", "otto")


def example(**values: Any) -> Example:
    given = {"input": "Why?", "output": "So.", "criterion": "Be right.", "score": 2.0}
    return Example(**given | {"document": mark_document("d", SALT)} | values)


def fitted(**values: Any) -> Fitted:
    maps = {"Be right.": Isotonic(raw=(1.0, 5.0), people=(1.0, 3.0))}
    return Fitted(examples=(example(**values),), calibration=Calibration(maps=maps))


def test_what_is_written_is_read_back_whole(tmp_path: Path) -> None:
    guide = Guide("Says what is so.", ((1, "wrong"), (5, "right")), "“Snow is white” is right.")
    criteria = (Criterion("Be right.", "Right", scale=Scale(1, 5), guide=guide, id=1),)
    instance = Instance("a", "Why?", "So.", "d", context={"note": "x"}, id=7)
    questions = describe_questions("m", make_protocol(criteria=criteria), instance, {1: (3.0, 4.0)}, SALT)
    judge = make_judge(criteria=criteria, fitted=fitted(), questions=tuple(questions), certificate={"n": 1})
    path = tmp_path / "judge.json"
    write_judge(path, judge)
    assert load_judge(path) == judge
    assert judge.criteria[0].build() == Criterion("Be right.", "Right", scale=Scale(1, 5), guide=guide)
    assert "Why?" not in json.dumps(judge.model_dump(mode="json")["questions"]), (
        "texts only where they are chosen"
    )
    (kept,) = describe_questions(
        "m", make_protocol(criteria=criteria), instance, {1: (3.0,)}, SALT, texts=True
    )
    assert kept.sample and (kept.sample.input, kept.sample.output, kept.sample.context) == ("Why?", "So.", {})
    assert set(judge.judges[0].templates) == {"case", "coeval", "reask"}
    assert not list(tmp_path.glob(".judge*")), "nothing half-written is left"


def test_no_key_and_no_persons_name_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "judge.json"
    judge = make_judge(
        fitted=fitted(reason="Wilhelmina Grape and Otto say that it is wrong; grape is a fruit.")
    )
    write_judge(path, judge, names=PEOPLE, secrets=["hunter2"])
    text = path.read_text(encoding="utf-8")
    assert not any(name.lower() in text.lower() for name in PEOPLE)
    assert "somebody and somebody say that it is wrong; grape is a fruit." in text
    before = path.read_bytes()
    for parts, said in (
        ({"fitted": fitted(reason=f"my key is {KEY}")}, r"a key or a password \(fitted.examples.0.reason\)"),
        ({"certificate": {"at": "https://me:hunter2@host/v1"}}, r"a key or a password \(certificate.at\)"),
        ({"certificate": {"sent": "Bearer abcdefghijklmnopqrstuv"}}, "a key or a password"),
        ({"certificate": {"people": ["otto", "p2"]}}, r"a person's name \(certificate.people.0\)"),
        ({"certificate": {"scores": {"Wilhelmina Grape": 3}}}, "a person's name"),
        ({"name": "it was hunter2"}, r"a key or a password \(name\)"),
    ):
        with pytest.raises(InputError, match=said):
            write_judge(path, make_judge(**parts), names=PEOPLE, secrets=["hunter2"])
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="endpoint"):
        make_judge(judges=({**judge.judges[0].model_dump(), "endpoint": "http://me:pw@host/v1"},))


def changed(change: Any) -> bytes:
    values = json.loads(json.dumps(make_judge(fitted=fitted()).model_dump(mode="json")))
    change(values)
    return json.dumps(values).encode("utf-8", "surrogatepass")


HOSTILE = {
    "no JSON": (b"{", "no JSON that can be read"),
    "a list": (b"[]", "is no judge: it has no “kind”"),
    "deep": (b"[" * 200_000, "no JSON that can be read"),
    "another kind": (b'{"kind": "x"}', "is no judge"),
    "nan": (
        changed(lambda v: v["fitted"]["examples"][0].update(score=float("nan"))),
        "holds NaN, which is no",
    ),
    "a later version": (
        changed(lambda v: v.update(version=2)),
        "is of version 2 and this CoEval reads version 1",
    ),
    "no version": (changed(lambda v: v.pop("version")), "is of version None"),
    "a further field": (changed(lambda v: v.update(run="rm -rf /")), "run: Extra inputs"),
    "a path for a name": (
        changed(lambda v: v["judges"][0]["templates"].update({"../../x": "y"})),
        r"templates.*: String should match pattern",
    ),
    "no scale": (changed(lambda v: v["criteria"][0].update(low=5)), "must rise, by no more than 100 steps"),
    "a criterion that is none": (
        changed(lambda v: v["fitted"]["examples"][0].update(criterion="x")),
        "the examples name the criterion “x”, which is none",
    ),
    "criteria twice": (
        changed(lambda v: v["criteria"].append(v["criteria"][0])),
        "two criteria have the same",
    ),
    "judges twice": (changed(lambda v: v["judges"].append(v["judges"][0])), "two judges have the same name"),
    "half a character": (changed(lambda v: v["task"].update(description="\ud800")), "description"),
    "a knot that falls": (
        changed(lambda v: v["fitted"]["calibration"]["maps"]["Be right."].update(raw=[2, 1])),
        "raw must rise",
    ),
    "samples without end": (changed(lambda v: v["judges"][0].update(samples=10**9)), "samples: .* 100"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence(name: str) -> None:
    data, said = HOSTILE[name]
    with pytest.raises(InputError, match=said) as refusal:
        parse_judge(data, "hostile.json")
    assert str(refusal.value).startswith("hostile.json") and len(str(refusal.value)) < 600
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_too_large_or_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_judge(tmp_path / "none.json")
    path = tmp_path / "judge.json"
    monkeypatch.setattr(judge_file, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="at most 1,000"):
        write_judge(path, make_judge())
    assert not list(tmp_path.iterdir())
    path.write_bytes(b" " * 1001)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        load_judge(path)
    with pytest.raises(InputError, match="cannot be written"):
        monkeypatch.undo()
        write_judge(tmp_path / "no" / "judge.json", make_judge())


def test_a_protocol_that_compares_cannot_stand_in_a_file() -> None:
    with pytest.raises(InputError, match="pairwise does not"):
        make_judge(options={"protocol": "pairwise"})
