"""OpenAI's ``/v1/decisions`` before a server that has only ``/v1/systemone``, as a proxy would offer it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

Body = dict[str, Any]


@contextmanager
def translate_decisions(url: str) -> Iterator[tuple[str, list[Body]]]:
    """Serve OpenAI's shape before ``url``; yield the new address, and the bodies that arrive."""
    bodies: list[Body] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path != "/v1/decisions":
                self._reply(404, {"error": {"message": f"Unknown path {self.path}"}})
                return
            bodies.append(body)
            asked = {question["name"]: _question(question) for question in body["questions"]}
            sent = {"model": body["model"], "state": body["input"], "questions": asked}
            reply = httpx.post(f"{url}/systemone", json=sent, timeout=60)
            told = reply.json()
            self._reply(reply.status_code, _translate(told, body) if reply.is_success else told)

        def _reply(self, status: int, body: Body) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", bodies
    finally:
        server.shutdown()
        server.server_close()


def _question(question: Body) -> Body:
    asked = {"instructions": question["instructions"]}
    if question["type"] == "score":
        levels = [level.get("description") or level["label"] for level in question["levels"]]
        return asked | {"type": "score", "criteria": levels}
    if question["type"] == "choice":
        options = {choice["value"]: choice.get("description") for choice in question["choices"]}
        return asked | {"type": "choice", "criteria": options}
    return asked | {"type": "noul"}


def _translate(told: Body, body: Body) -> Body:
    answers = [_answer(question, told["answers"][question["name"]]) for question in body["questions"]]
    tokens = told["usage"]["input_tokens"]
    usage = {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}
    details = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    return {"model": body["model"], "answers": answers, "usage": usage | details}


def _answer(question: Body, answer: Body) -> Body:
    named = {"type": question["type"], "name": question["name"]}
    if question["type"] == "predicate":
        return named | {"probability": round(answer["noul"], 2)}
    chances = {key: round(value, 2) for key, value in answer["probabilities"].items()}
    if question["type"] == "choice":
        pairs = [{"value": value, "probability": chance} for value, chance in chances.items()]
    else:
        labels = [level["label"] for level in question["levels"]]
        pairs = [{"value": int(at), "label": labels[int(at)], "probability": p} for at, p in chances.items()]
    return named | {"probabilities": pairs, "confidence": answer["confidence"]}
