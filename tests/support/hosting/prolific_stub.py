"""A local stand-in of Prolific's API, written from its public reference: as much of it as CoEval asks of it.

Source: https://docs.prolific.com/api-reference. Approving and rejecting twice is once.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

TOKEN = "prolific-test-token"
FAULTS = ("429", "500", "cut before", "cut after", "500 after")
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ProlificStub:
    """One researcher's account. ``fail(part, fault)`` has the next request whose path ends so befall a fault.

    "429" and "500" happen before the effect, "500 after" behind it; a cut is a connection that dies before or after.
    ``calls`` are the requests that came, ``struck`` those that a fault befell, and ``approved`` every reward.
    """

    def __init__(self) -> None:
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.made = 0
        self.calls: list[str] = []
        self.struck: list[str] = []
        self.approved: list[str] = []
        self.currency, self.wait = "GBP", "0"
        self._faults: list[tuple[str, str]] = []
        api = "/api/v1"
        routes: list[tuple[str, str, Handler]] = [
            ("POST", "/studies/", self.create),
            ("GET", "/studies/", self.list_studies),
            ("GET", "/studies/{id}/", self.get_study),
            ("PATCH", "/studies/{id}/", self.change_study),
            ("POST", "/studies/{id}/transition/", self.publish),
            ("GET", "/studies/{id}/submissions/", self.list_submissions),
            ("GET", "/submissions/{id}/", self.get_submission),
            ("POST", "/submissions/{id}/transition/", self.decide),
            ("POST", "/submissions/{id}/request-return/", self.request_return),
        ]
        app = Starlette(
            routes=[Route(api + path, self._faulty(do), methods=[method]) for method, path, do in routes]
        )
        self.server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def start(self) -> None:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(5)

    def fail(self, part: str, fault: str, times: int = 1) -> None:
        assert fault in FAULTS
        self._faults += [(part, fault)] * times

    def join(self, study: str, submission: str, worker: str, *, minutes: float = 10) -> None:
        """Somebody did the study and entered its code."""
        self.studies[study]["places_taken"] += 1
        self.submissions[submission] = {
            "id": submission, "participant_id": worker, "study_id": study, "status": "AWAITING REVIEW",
            "study_code": "DONE1", "time_taken": minutes * 60, "return_requested": None,
        }  # fmt: skip

    def count(self, part: str) -> int:
        return sum(part in call for call in self.calls)

    # ---- how a request is met

    def _faulty(self, do: Handler) -> Handler:
        async def met(request: Request) -> Response:
            call = f"{request.method} {request.url.path.removeprefix('/api/v1')}"
            self.calls.append(call)
            if request.headers.get("authorization") != f"Token {TOKEN}":
                return _error(
                    401, f"Invalid token {request.headers.get('authorization', '').removeprefix('Token ')}"
                )
            fault = next((one for one in self._faults if call.endswith(one[0])), None)
            if fault is None:
                return await do(request)
            self._faults.remove(fault)
            self.struck.append(f"{call}: {fault[1]}")
            if fault[1].endswith("after"):
                answer = await do(request)
                if answer.status_code >= 400:
                    return answer
            if fault[1].startswith("cut"):
                return StreamingResponse(_go_dead(), headers={"Content-Length": "1000"})
            headers = {"Retry-After": self.wait} if fault[1] == "429" else {}
            return _error(int(fault[1][:3]), "Trouble", headers)

        return met

    # ---- studies

    async def create(self, request: Request) -> Response:
        body = await request.json()
        codes = [code["code"] for code in body["completion_codes"]]
        if len(set(codes)) < len(codes) or not codes or not isinstance(body["reward"], int):
            return _error(400, {"completion_codes": ["Each code must be unique within a study."]})
        self.made += 1
        number = f"{self.made:024x}"
        self.studies[number] = body | {
            "id": number, "status": "UNPUBLISHED", "places_taken": 0, "presentment_currency_code": self.currency,
            "total_cost": body["reward"] * body["total_available_places"] * 4 / 3,
        }  # fmt: skip
        return JSONResponse(self.studies[number], 201)

    async def list_studies(self, request: Request) -> Response:
        state = request.query_params.get("state")
        found = [study for study in self.studies.values() if state in (None, study["status"])]
        return JSONResponse({"results": found})

    async def get_study(self, request: Request) -> Response:
        study = self.studies.get(request.path_params["id"])
        return JSONResponse(study) if study else _error(404, "Not found")

    async def change_study(self, request: Request) -> Response:
        study, body = self.studies[request.path_params["id"]], await request.json()
        if body["total_available_places"] < study["total_available_places"]:
            return _error(400, "Places can only be added to a published study.")
        study.update(body)
        return JSONResponse(study)

    async def publish(self, request: Request) -> Response:
        study, body = self.studies[request.path_params["id"]], await request.json()
        if body["action"] != "PUBLISH" or study["status"] != "UNPUBLISHED":
            return _error(400, "The study cannot be published.")
        study["status"] = "ACTIVE"
        return JSONResponse(study)

    # ---- submissions

    async def list_submissions(self, request: Request) -> Response:
        start, n = int(request.query_params["offset"]), int(request.query_params["limit"])
        found = [one for one in self.submissions.values() if one["study_id"] == request.path_params["id"]]
        return JSONResponse({"results": found[start : start + n], "meta": {"count": len(found)}})

    async def get_submission(self, request: Request) -> Response:
        found = self.submissions.get(request.path_params["id"])
        return JSONResponse(found) if found else _error(404, "Not found")

    async def decide(self, request: Request) -> Response:
        one, body = self.submissions[request.path_params["id"]], await request.json()
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}[body["action"]]
        if wanted == "REJECTED" and (
            len(body.get("message", "")) < 100 or not body.get("rejection_category")
        ):
            return _error(400, {"message": ["Ensure this field has at least 100 characters."]})
        if one["status"] == "AWAITING REVIEW":
            one["status"] = wanted
            if wanted == "APPROVED":
                self.approved.append(one["id"])
        elif one["status"] != wanted:
            return _error(400, f"The submission is {one['status']}.")
        return JSONResponse({"id": one["id"], "status": one["status"], "participant": one["participant_id"]})

    async def request_return(self, request: Request) -> Response:
        one, body = self.submissions[request.path_params["id"]], await request.json()
        if not body.get("request_return_reasons"):
            return _error(400, "A reason is missing.")
        one["return_requested"] = "2026-01-01T00:00:00Z"
        return JSONResponse(
            {"id": one["id"], "status": one["status"], "return_requested": one["return_requested"]}
        )


def _error(status: int, detail: Any, headers: dict[str, str] | None = None) -> Response:
    body = {"error": {"status": status, "title": "Error", "detail": detail}}
    return JSONResponse(body, status, headers)


async def _go_dead() -> AsyncIterator[bytes]:
    yield b'{"id": '
    await asyncio.sleep(0)
    raise ConnectionResetError


@contextmanager
def serving_prolific() -> Iterator[ProlificStub]:
    stub = ProlificStub()
    stub.start()
    yield stub
    stub.stop()
