"""Who is asking: the session cookie of a request, to a person."""

from __future__ import annotations

import html

import gradio as gr
from fastapi import Request

from coeval.domain import Person
from coeval.errors import CoevalError, NotAllowedError
from coeval.study.access import Context
from coeval.study.people import get_signed_in

COOKIE = "coeval_session"


def get_person(context: Context, request: Request | gr.Request | None) -> Person:
    """The person whose session the request carries.

    Raises:
        NotAllowedError: there is no session, or it has ended.
    """
    token = request.cookies.get(COOKIE) if request is not None else None
    person = get_signed_in(context, token)
    if person is None:
        raise NotAllowedError("You are signed out: sign in again. What you typed is kept in this browser.")
    return person


def shown(error: CoevalError) -> gr.Error:
    """The error as Gradio shows it, at the edge: ``raise shown(error) from error``.

    Gradio's toasts read markup, and a message can repeat what somebody typed: so it is escaped.
    """
    return gr.Error(html.escape(str(error)), title="That did not work", print_exception=False)
