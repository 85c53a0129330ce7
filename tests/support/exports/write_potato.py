"""Writes Potato's output among the tests' data with its own classes: two people, two items.

``python write_potato.py FOLDER`` in an environment of its own (potato-annotation 2.12).
"""

import json
import sys
from pathlib import Path

from potato.interaction_tracking import BehavioralData
from potato.item_state_management import Label, SpanAnnotation
from potato.user_state_management import InMemoryUserState

ITEMS = [
    {"id": "p-01", "prompt": "How do I sow beans?", "text": "🫘 Two fingers deep, in May."},
    {"id": "p-02", "prompt": "And peas?", "text": "NA"},
]


def build_user(name: str, score: int, tone: str) -> InMemoryUserState:
    user = InMemoryUserState(name)
    user.instance_id_to_label_to_value["p-01"] = {
        Label("quality", str(score)): str(score),
        Label("tone", tone): tone,
        Label("why", "text_box"): "Clear,\nand short",
        Label("certainty", "slider"): "70",
    }
    user.instance_id_to_span_to_value["p-01"] = {SpanAnnotation("passages", "vague", "vague", 2, 13): "true"}
    user.instance_id_to_label_to_value["p-02"] = {Label("quality", "1"): "1"}
    user.instance_id_to_behavioral_data["p-01"] = BehavioralData(
        "p-01", session_start=1_772_366_400.0, session_end=1_772_366_460.0, total_time_ms=45_500
    )
    return user


def main(folder: Path) -> None:
    for name, score, tone in (("ann", 4, "kind"), ("007", 2, "cold")):
        place = folder / "potato" / "annotation_output" / name
        place.mkdir(parents=True, exist_ok=True)
        build_user(name, score, tone).save(str(place))
    items = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in ITEMS)
    (folder / "potato" / "items.jsonl").write_text(items, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
