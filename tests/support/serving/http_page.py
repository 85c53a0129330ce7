"""A browser without a screen: plain requests, and a Gradio page's events over its queue."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

REFUSALS = (401, 403, 404, 409, 410, 422)
AWAY = ("signin", "/s/")
"""Ends of the addresses to which a page leads those who have no business there."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a knock; an event's refusal counts as 422, one without words as 500."""

    status: int
    text: str
    location: str = ""

    @property
    def refused(self) -> bool:
        return self.status in REFUSALS or self.location.partition("?")[0].endswith(AWAY)

    @property
    def led_back(self) -> bool:
        """Whether somebody without a session was led to the page that opens their study's link again."""
        return self.status == 303 and self.location.endswith("/s/")

    @property
    def explained(self) -> bool:
        """Whether there are words for the person, or a page that they were led to."""
        return len(self.text) > 10 or bool(self.location)

    @property
    def broken(self) -> bool:
        """Whether something that nobody foresaw came out."""
        return self.status >= 500 or "Traceback" in self.text


def ask(browser: httpx.Client, method: str, path: str, **options: Any) -> Answer:
    """A plain request. A form that is done leads on; refused, it leads back to the study's link."""
    answer = browser.request(method, path, **options)
    away = answer.headers.get("location", "")
    led = Answer(answer.status_code, answer.text, away)
    return led if method == "GET" or led.led_back else Answer(answer.status_code, answer.text)


class Page:
    """One Gradio app in one tab: what its fields hold, and its events, found by what triggers them."""

    def __init__(self, browser: httpx.Client, mount: str, config: dict[str, Any]) -> None:
        # what runs in the browser alone has nothing to knock at
        events = [one for one in config["dependencies"] if one["backend_fn"]]
        self.browser, self.mount, self.config = browser, mount, {**config, "dependencies": events}
        self.session = uuid.uuid4().hex
        self.parts = {one["id"]: one["props"] for one in config["components"]}
        self.values = {number: props.get("value") for number, props in self.parts.items()}

    def put(self, fields: dict[str, Any]) -> None:
        """Fill in fields, each named by its elem_id or its label."""
        for name, value in fields.items():
            self.values[self.find(name)] = value

    def get(self, name: str) -> Any:
        return self.values[self.find(name)]

    def find(self, name: str) -> int:
        """The component of that elem_id, tab id, label or button text."""
        for key in ("elem_id", "id", "label", "value"):
            found = [number for number, props in self.parts.items() if props.get(key) == name]
            if found:
                return int(found[0])
        raise LookupError(f"The page {self.mount}/ has no “{name}”.")

    def fire(self, name: str, event: str = "click", out: str = "") -> Answer:
        """Trigger an event, and keep what it fills in; ``out`` tells several of one trigger apart."""
        return self.run(self._dependency(name, event, out))

    def data_of(self, dependency: dict[str, Any]) -> list[Any]:
        """What the fields hold that an event sends."""
        return [self.values.get(number) for number in dependency["inputs"]]

    def run(self, dependency: dict[str, Any]) -> Answer:
        data = self.data_of(dependency)
        body = {"data": data, "fn_index": dependency["id"], "session_hash": self.session}
        joined = self.browser.post(f"{self.mount}/gradio_api/queue/join", json=body)
        if joined.status_code != 200:
            return Answer(joined.status_code, joined.text)
        path, sought = f"{self.mount}/gradio_api/queue/data", {"session_hash": self.session}
        with self.browser.stream("GET", path, params=sought) as lines:
            # the event may have ended this session before its answer was fetched
            if lines.status_code != 200:
                return Answer(lines.status_code, lines.read().decode())
            output: dict[str, Any] = {}
            for message in _messages(lines):
                output = message.get("output") or output
                if message["msg"] == "process_completed":
                    return self._completed(dependency, bool(message["success"]), output)
        return Answer(500, "The queue closed without an answer.")

    def _completed(self, dependency: dict[str, Any], success: bool, output: dict[str, Any]) -> Answer:
        if not success:
            return Answer(422 if output.get("error") else 500, str(output.get("error")))
        for number, value in zip(dependency["outputs"], output["data"], strict=False):
            if not (isinstance(value, dict) and value.get("__type__") == "update"):
                self.values[number] = value
            elif "value" in value:
                self.values[number] = value["value"]
        return Answer(200, json.dumps(output["data"]))

    def _dependency(self, name: str, event: str, out: str) -> dict[str, Any]:
        source = self.find(name) if name else None
        shown = self.find(out) if out else None
        for one in self.config["dependencies"]:
            mine = any(kind == event and (source in (None, number)) for number, kind in one["targets"])
            if mine and (shown is None or shown in one["outputs"]):
                return dict(one)
        raise LookupError(f"Nothing happens on {event} of “{name}” in {self.mount}/.")


def _messages(lines: httpx.Response) -> Iterator[dict[str, Any]]:
    return (json.loads(line[5:]) for line in lines.iter_lines() if line.startswith("data:"))
