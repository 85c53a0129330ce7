"""``judge.json`` is read back as it was written, holds no secret and no name, and hostile files are refused."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Criterion, Guide, Instance, Scale
from coeval.domain.runs import PARAMETERS
from coeval.errors import InputError
from coeval.extensions.judge.model import judge_file
from coeval.extensions.judge.model.file_schema import (
    KEPT_SETTINGS,
    Asking,
    JudgeFile,
    Label,
    Question,
    describe_asking,
    describe_questions,
)
from coeval.extensions.judge.model.fitted import Calibration, Fitted, Isotonic
from coeval.extensions.judge.model.judge_file import (
    hash_content,
    load_judge,
    parse_judge,
    write_judge,
)
from coeval.llm.client.abilities import Abilities, build_body
from coeval.llm.prompting.questions import Example, mark_document
from coeval.llm.protocols.protocol import Brief, build_protocol
from coeval.usecases.drafting.run_settings import RunSettings
from tests.support.models.single_judgment import render_calls
from tests.support.studies.judge_files import SALT, TASK, make_judge, make_protocol

KEY = "sk-proj-a1b2c3d4e5f6g7h8i9j0"
PEOPLE = ("Wilhelmina Grape", "otto")


def example(**values: Any) -> Example:
    given = {"input": "Why?", "output": "So.", "criterion": "Be right.", "score": 2.0}
    return Example(**given | {"document": mark_document("d", SALT)} | values)


def fitted(**values: Any) -> Fitted:
    maps = {"Be right.": Isotonic(raw=(1.0, 5.0), people=(1.0, 3.0))}
    return Fitted(examples=(example(**values),), calibration=Calibration(maps=maps))


def test_every_parameter_of_a_request_goes_from_the_settings_to_the_endpoint_and_through_the_file() -> None:
    values = {"temperature": 0.25, "max_tokens": 77, "top_p": 0.5, "reasoning_effort": "low"}
    assert set(values) == set(PARAMETERS), "give the new parameter a value here"
    options = RunSettings("m", "score-only", **values).judge_options()  # type: ignore[arg-type]
    (request, _), *_ = render_calls(TASK, Criterion("Be right."), Instance("1", "a", "b"), options)
    assert request.parameters == values
    body = build_body(request, Abilities())
    assert {name: body[name] for name in values} == values
    asking = describe_asking("j", build_protocol(Brief(TASK, {1: Criterion("Be right.")}, options)))
    assert {name: getattr(asking, name) for name in values} == values
    assert set(KEPT_SETTINGS) <= set(Asking.model_fields)


def test_what_is_written_is_read_back_whole(tmp_path: Path) -> None:
    guide = Guide("Says what is so.", ((1, "wrong"), (5, "right")), "“Snow is white” is right.")
    criteria = (Criterion("Be right.", "Right", scale=Scale(1, 5), guide=guide, id=1),)
    instance = Instance("a", "Why?", "So.", "d", context={"note": "x"}, id=7)
    questions = describe_questions("m", make_protocol(criteria=criteria), instance, {1: (3.0, 4.0)}, SALT)
    judge = make_judge(criteria=criteria, fitted=fitted(), questions=tuple(questions), certificate={"n": 1})
    path = tmp_path / "judge.json"
    write_judge(path, judge)
    read = load_judge(path)
    assert read == judge.model_copy(update={"hash": read.hash}) and len(read.hash) == 64
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
    """A file that was changed, with the hash of what it holds then: a hostile writer can make one too."""
    values = json.loads(json.dumps(make_judge(fitted=fitted()).model_dump(mode="json")))
    change(values)
    with contextlib.suppress(ValueError):  # no hash is made of what is no number
        values["hash"] = hash_content(values)
    return json.dumps(values).encode("utf-8", "surrogatepass")


HOSTILE = {
    "no JSON": (b"{", "not valid JSON"),
    "a list": (b"[]", "is not a judge file: its “kind”"),
    "deep": (b"[" * 200_000, "not valid JSON"),
    "nan": (
        changed(lambda v: v["fitted"]["examples"][0].update(score=float("nan"))),
        "JSON does not allow NaN",
    ),
    "a later version": (
        changed(lambda v: v.update(version=4)),
        "has version 4, and this CoEval reads version 3",
    ),
    "the format with a hash of each part": (
        b'{"kind": "coeval-judge", "version": 2, "hashes": {"criteria": "0"}}',
        "has version 2, and this CoEval reads version 3",
    ),
    "a key twice": (b'{"kind": "coeval-judge", "kind": "x"}', "the key 'kind' occurs twice"),
    "no hash": (
        json.dumps(json.loads(changed(lambda v: None)) | {"hash": ""}).encode(),
        "has no hash",
    ),
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
    with pytest.raises(InputError, match="the limit is 1,000"):
        write_judge(path, make_judge())
    assert not list(tmp_path.iterdir())
    path.write_bytes(b" " * 1001)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        load_judge(path)
    with pytest.raises(InputError, match="cannot be written"):
        monkeypatch.undo()
        write_judge(tmp_path / "no" / "judge.json", make_judge())


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every number, text, truth value and null, and of every list and object that is empty."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner or not value:
        yield place
    for key, entry in inner:
        yield from leaves(entry, (*place, key))


def edited(value: Any) -> Any:
    """Another value of the same kind; another number by as little as a step of the last digit or so."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if isinstance(value, int) else value * (1 + 1e-12) + 1e-12
    if isinstance(value, str):
        return value[:-1] + ("x" if not value.endswith("x") else "y")
    return 1 if value is None else ["x"] if isinstance(value, list) else {"x": "y"}


def whole_judge() -> JudgeFile:
    """A judge with something in every part."""
    mark = "0" * 64
    label = Label(
        document=mark, output=mark, system="a", criterion="Be right.", people=3.5, n_people=2, raw=4, score=3
    )
    question = Question(
        judge="m", criterion="Be right.", document=mark, output=mark, request=mark, scores=(3.0, 4.0)
    )
    return make_judge(
        fitted=fitted(),
        labels=(label,),
        questions=(question,),
        certificate={"opening": 1, "rmse": {"value": 0.5}},
    )


def test_no_leaf_of_a_file_can_be_edited(tmp_path: Path) -> None:
    """Slopes, scales, models, figures of the certificate, people's scores: all are under the hash, and the hash too."""
    path = tmp_path / "judge.json"
    write_judge(path, whole_judge())
    values = json.loads(path.read_bytes())
    places = list(leaves(values))
    assert len(places) > 60 and ("labels", 0, "people") in places
    for place in places:
        changed_values = json.loads(path.read_bytes())
        holder = changed_values
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = edited(holder[place[-1]])
        with pytest.raises(InputError):
            parse_judge(json.dumps(changed_values))
        del holder[place[-1]]
        with pytest.raises(InputError):
            parse_judge(json.dumps(changed_values))
    assert parse_judge(json.dumps(values, indent=4)[:-1] + "\n}").hash == values["hash"], (
        "spaces are no content"
    )
