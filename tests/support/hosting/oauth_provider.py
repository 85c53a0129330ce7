"""A stand-in of Hugging Face's sign-in: an OpenID provider, called in the process or served on this machine."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route


class Provider:
    """An OpenID provider that checks what Hugging Face would: client, code, redirect and PKCE verifier."""

    url = "https://provider.test"

    def __init__(self) -> None:
        self.profile: dict[str, str] = {"sub": "42", "preferred_username": "julia-m"}
        self.denies = False
        """Whether the person presses “Deny” when asked."""
        self.challenges: dict[str, tuple[str, str]] = {}
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.configuration),
                Route("/oauth/authorize", self.authorize),
                Route("/oauth/token", self.token, methods=["POST"]),
                Route("/oauth/userinfo", self.userinfo),
            ]
        )

    async def configuration(self, request: Request) -> Response:
        names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return JSONResponse({f"{k}_endpoint": f"{self.url}/oauth/{v}" for k, v in names.items()})

    async def authorize(self, request: Request) -> Response:
        query = request.query_params
        assert query["client_id"] == "client" and query["code_challenge_method"] == "S256"
        if self.denies:
            return RedirectResponse(f"{query['redirect_uri']}?error=access_denied&state={query['state']}")
        code = f"code{len(self.challenges)}"
        self.challenges[code] = (query["code_challenge"], query["redirect_uri"])
        return RedirectResponse(f"{query['redirect_uri']}?code={code}&state={query['state']}")

    async def token(self, request: Request) -> Response:
        form = await request.form()
        basic = base64.b64encode(b"client:secret").decode()
        challenge, redirect_uri = self.challenges.pop(str(form["code"]), ("", ""))
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        proven = base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == challenge
        if request.headers["authorization"] != f"Basic {basic}" or not proven:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if form["redirect_uri"] != redirect_uri or form["grant_type"] != "authorization_code":
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"access_token": "bearer-of-julia", "token_type": "bearer"})

    async def userinfo(self, request: Request) -> Response:
        if request.headers.get("authorization") != "Bearer bearer-of-julia":
            return JSONResponse({"error": "invalid_token"}, 401)
        return JSONResponse(self.profile)

    @contextmanager
    def serve(self) -> Iterator[Provider]:
        """Answer on a port of this machine, for a browser to be sent to."""
        server = uvicorn.Server(uvicorn.Config(self.app, port=0, log_level="critical"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        yield self
        server.should_exit = True
        thread.join(5)
