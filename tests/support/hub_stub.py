"""A local stand-in of the Hub's HTTP API for data sets: as much of it as huggingface_hub asks of it here."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

SHA = "a" * 40


class HubStub:
    """One data set ``team/study``; ``trouble`` makes it refuse, hang up, or hand out half a file."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.exists, self.private, self.token = False, True, "hf_test_token"
        self.trouble = ""
        self.commits: list[list[str]] = []
        api = "/api/datasets/team/study"
        app = Starlette(
            routes=[
                Route("/api/repos/create", self.create, methods=["POST"]),
                Route(api, self.info),
                Route(api + "/revision/main", self.info),
                Route(api + "/tree/main", self.tree),
                Route(api + "/preupload/main", self.preupload, methods=["POST"]),
                Route(api + "/commit/main", self.commit, methods=["POST"]),
                Route("/datasets/team/study/resolve/{revision}/{path:path}", self.resolve),
            ]
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

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return JSONResponse({"error": "Invalid credentials"}, 401)
        if self.trouble == "refuse":
            return JSONResponse({"error": "You have exceeded your storage"}, 403)
        if not self.exists:
            return JSONResponse({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
        return None

    async def create(self, request: Request) -> Response:
        body = await request.json()
        self.exists, self.private = True, body.get("visibility") == "private" or body.get("private") is True
        return JSONResponse({"url": f"{self.url}/datasets/team/study", "name": "team/study"})

    async def info(self, request: Request) -> Response:
        siblings = [{"rfilename": name} for name in self.files]
        found = {"id": "team/study", "sha": SHA, "private": self.private, "siblings": siblings, "tags": []}
        return self._refusal(request) or JSONResponse(found | {"downloads": 0, "likes": 0})

    async def tree(self, request: Request) -> Response:
        found = [
            {"type": "file", "path": name, "size": len(data), "oid": SHA} for name, data in self.files.items()
        ]
        return self._refusal(request) or JSONResponse(found)

    async def preupload(self, request: Request) -> Response:
        body = await request.json()
        modes = [
            {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in body["files"]
        ]
        return self._refusal(request) or JSONResponse({"files": modes})

    async def commit(self, request: Request) -> Response:
        refusal = self._refusal(request)
        if refusal:
            return refusal
        if self.trouble == "hang up":
            await anext(request.stream())  # a part of the upload arrives, then the line goes dead
            return StreamingResponse(_go_dead(), headers={"Content-Length": "1000"})
        lines = [json.loads(line) for line in (await request.body()).splitlines()]
        self.commits.append([self._apply(line) for line in lines])
        answer = {"commitUrl": f"{self.url}/datasets/team/study/commit/{SHA}", "commitOid": SHA}
        return JSONResponse(answer | {"hookOutput": "", "success": True})

    def _apply(self, line: dict[str, Any]) -> str:
        value = line["value"]
        if line["key"] == "file":
            self.files[value["path"]] = base64.b64decode(value["content"])
        elif line["key"] == "deletedFile":
            del self.files[value["path"]]
        return f"{line['key']} {value.get('path', '')}".strip()

    async def resolve(self, request: Request) -> Response:
        refusal = self._refusal(request)
        if refusal:
            return refusal
        data = self.files[request.path_params["path"]]
        if self.trouble == "half":
            data = data[: len(data) // 2]
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": SHA}
        return Response(data, headers=headers, media_type="application/octet-stream")


async def _go_dead() -> AsyncIterator[bytes]:
    yield b'{"commitUrl": '
    raise ConnectionResetError
