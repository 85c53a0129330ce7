"""A local stand-in of the Hub's HTTP API for data sets: as much of it as huggingface_hub asks of it here."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

LFS = ".parquet"
"""What the Hub keeps beside git, as its own .gitattributes say."""

TROUBLES = ("401", "404", "429", "500", "cut", "slow", "half", "hang up")


class HubStub:
    """One data set ``team/study``; ``trouble`` is what befalls each request.

    A status, "cut" (the line goes dead before an answer), "hang up" (a commit is done, and its answer lost), "half"
    (a file ends early), "slow", or an address that files are said to lie at. ``fails`` decides by the request whether
    it strikes, and ``at`` at which addresses; ``struck`` counts how often it did. ``history`` is every file that
    can still be fetched by its commit, until the history is squashed. ``heard`` are all requests, and
    ``large`` what was sent beside git, by its hash.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.exists, self.private, self.token = False, True, "hf_test_token"
        self.trouble = ""
        self.fails: Callable[[], bool] = lambda: True
        self.struck, self.at = 0, ""
        self.commits: list[list[str]] = []
        self.history: dict[str, bytes] = {}
        self.squashed = 0
        self.large: dict[str, bytes] = {}
        self.heard: list[str] = []
        api = "/api/datasets/team/study"
        app = Starlette(
            routes=[
                Route("/api/repos/create", self.create, methods=["POST"]),
                Route(api, self.info),
                Route(api + "/revision/{revision}", self.info),
                Route(api + "/tree/main", self.tree),
                Route(api + "/paths-info/main", self.paths_info, methods=["POST"]),
                Route(api + "/preupload/main", self.preupload, methods=["POST"]),
                Route(api + "/commit/main", self.commit, methods=["POST"]),
                Route(api + "/super-squash/main", self.squash, methods=["POST"]),
                Route("/api/validate-yaml", self.validate, methods=["POST"]),
                Route("/datasets/team/study.git/info/lfs/objects/batch", self.batch, methods=["POST"]),
                Route("/large/{hash}", self.put_large, methods=["PUT"]),
                Route("/datasets/team/study/resolve/{revision}/{path:path}", self.resolve),
            ]
        )
        # a connection that is closed just when it is used again is no trouble that was asked for
        config = uvicorn.Config(app, port=0, log_level="critical", timeout_keep_alive=600)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def start(self) -> None:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(5)

    @property
    def sha(self) -> str:
        return f"{len(self.commits):040x}"

    async def _refusal(self, request: Request) -> Response | None:
        self.heard.append(f"{request.method} {request.url.path} {request.headers.get('authorization', '')}")
        known = (
            request.url.path.startswith("/large/")
            or request.headers.get("authorization") == f"Bearer {self.token}"
        )
        if not known and (self.private or request.method not in ("GET", "HEAD")):
            return JSONResponse({"error": "Invalid credentials"}, 401)
        if self.trouble not in ("", "half", "hang up") and self.at in request.url.path and self.fails():
            self.struck += 1
            if self.trouble == "slow":
                await asyncio.sleep(0.05)
            elif self.trouble == "cut":
                return StreamingResponse(_go_dead(), headers={"Content-Length": "1000"})
            elif self.trouble == "404":
                return JSONResponse({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
            elif self.trouble.isdigit():
                headers = {"Retry-After": "0"} if self.trouble == "429" else {}
                return JSONResponse({"error": f"Trouble {self.trouble}"}, int(self.trouble), headers)
        if not self.exists:
            return JSONResponse({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
        return None

    async def create(self, request: Request) -> Response:
        body = await request.json()
        self.exists, there = True, self.exists
        refusal = await self._refusal(request)
        self.exists = there
        if refusal and self.trouble != "404":
            return refusal
        if self.exists or self.trouble == "404":
            return JSONResponse({"error": "You already created this dataset repo"}, 409)
        self.exists, self.private = True, body.get("visibility") == "private" or body.get("private") is True
        return JSONResponse({"url": f"{self.url}/datasets/team/study", "name": "team/study"})

    async def info(self, request: Request) -> Response:
        revision = request.path_params.get("revision", "main")
        if revision not in ("main", "v1", self.sha):
            refusal = await self._refusal(request)
            missing = {"X-Error-Code": "RevisionNotFound"}
            return refusal or JSONResponse({"error": "Invalid rev id"}, 404, missing)
        siblings = [{"rfilename": name, "size": len(data)} for name, data in self.files.items()]
        found = {
            "id": "team/study",
            "sha": self.sha,
            "private": self.private,
            "siblings": siblings,
            "tags": [],
            "cardData": self.card,
        }
        return await self._refusal(request) or JSONResponse(found | {"downloads": 0, "likes": 0})

    @property
    def card(self) -> Any:
        """What the head of the card states."""
        parts = self.files.get("README.md", b"").decode().split("---\n")
        return yaml.safe_load(parts[1]) if len(parts) > 2 else {}

    async def tree(self, request: Request) -> Response:
        found = [
            {"type": "file", "path": name, "size": len(data), "oid": self.sha}
            for name, data in self.files.items()
        ]
        return await self._refusal(request) or JSONResponse(found)

    async def paths_info(self, request: Request) -> Response:
        refusal = await self._refusal(request)
        asked = (
            (await request.json())["paths"]
            if "json" in request.headers["content-type"]
            else (await request.form()).getlist("paths")
        )
        known = [(str(name), self.files[str(name)]) for name in asked if str(name) in self.files]
        found = [{"type": "file", "path": name, "size": len(data), "oid": self.sha} for name, data in known]
        return refusal or JSONResponse(found)

    async def preupload(self, request: Request) -> Response:
        body = await request.json()
        modes = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["path"].endswith(LFS) else "regular",
                "shouldIgnore": False,
                "oid": self._oid(file["path"]),
            }
            for file in body["files"]
        ]
        return await self._refusal(request) or JSONResponse({"files": modes})

    def _oid(self, name: str) -> str | None:
        """What git, or the storage beside it, knows a file's content by."""
        data = self.files.get(name)
        if data is None:
            return None
        if name.endswith(LFS):
            return hashlib.sha256(data).hexdigest()
        return hashlib.sha1(b"blob %d\0%b" % (len(data), data)).hexdigest()

    async def validate(self, request: Request) -> Response:
        head = (await request.json())["content"].split("---\n")[1]
        fine = isinstance(yaml.safe_load(head), dict)
        return await self._refusal(request) or JSONResponse(
            {"errors": [], "warnings": []}, 200 if fine else 400
        )

    async def batch(self, request: Request) -> Response:
        refusal = await self._refusal(request)
        known = {hashlib.sha256(data).hexdigest() for data in self.files.values()} | set(self.large)
        objects = [
            {"oid": each["oid"], "size": each["size"]}
            | (
                {}
                if each["oid"] in known
                else {"actions": {"upload": {"href": f"{self.url}/large/{each['oid']}"}}}
            )
            for each in (await request.json())["objects"]
        ]
        return refusal or JSONResponse({"transfer": "basic", "objects": objects})

    async def put_large(self, request: Request) -> Response:
        data, name = await request.body(), request.path_params["hash"]
        refusal = await self._refusal(request)
        if refusal is None and hashlib.sha256(data).hexdigest() == name:
            self.large[name] = data
        return refusal or Response()

    async def commit(self, request: Request) -> Response:
        refusal = await self._refusal(request)
        if refusal:
            return refusal
        lines = [json.loads(line) for line in (await request.body()).splitlines()]
        parent = next((line["value"].get("parentCommit") for line in lines if line["key"] == "header"), None)
        if parent and parent != self.sha:
            return JSONResponse({"error": "A commit has happened since"}, 412)
        self.commits.append([self._apply(line) for line in lines])
        if self.trouble == "hang up" and self.fails():
            return StreamingResponse(_go_dead(), headers={"Content-Length": "1000"})
        answer = {"commitUrl": f"{self.url}/datasets/team/study/commit/{self.sha}", "commitOid": self.sha}
        return JSONResponse(answer | {"hookOutput": "", "success": True})

    async def squash(self, request: Request) -> Response:
        refusal = await self._refusal(request)
        if refusal is None:
            self.squashed += 1
            self.commits.append(["squash"])
            self.history = dict(self.files)
        return refusal or JSONResponse({"success": True})

    def _apply(self, line: dict[str, Any]) -> str:
        value = line["value"]
        if line["key"] == "file":
            self.files[value["path"]] = base64.b64decode(value["content"])
            self.history[value["path"]] = self.files[value["path"]]
        elif line["key"] == "lfsFile":
            self.files[value["path"]] = self.large[value["oid"]]
        elif line["key"] == "deletedFile":
            self.files.pop(value["path"], None)
        return f"{line['key']} {value.get('path', '')}".strip()

    async def resolve(self, request: Request) -> Response:
        refusal = await self._refusal(request)
        if refusal:
            return refusal
        if request.path_params["path"] not in self.files:
            return JSONResponse({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound"})
        data = self.files[request.path_params["path"]]
        if self.trouble.startswith("http"):
            linked = {"X-Linked-Etag": '"1"', "X-Linked-Size": str(len(data)), "X-Repo-Commit": self.sha}
            return RedirectResponse(self.trouble, 302, linked)
        if self.trouble == "half" and self.fails():
            self.struck += 1
            data = data[: len(data) // 2]
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": self.sha}
        return Response(data, headers=headers, media_type="application/octet-stream")


@contextmanager
def serving_hub(table: bytes) -> Iterator[HubStub]:
    """A stand-in with one public data set, of one CSV file."""
    hub = HubStub()
    hub.start()
    hub.exists, hub.private, hub.files = True, False, {"data.csv": table}
    yield hub
    hub.stop()


async def _go_dead() -> AsyncIterator[bytes]:
    yield b'{"commitUrl": '
    raise ConnectionResetError
