"""Links to a place in Scrutiny."""

from __future__ import annotations

from urllib.parse import urlencode


def step_link(slug: str, external_id: str) -> str:
    """The address, seen from Set-up, that opens an instance in Scrutiny; for those who run the study.

    >>> step_link("eli5", "q 1")
    '../?task=eli5&tab=scrutiny&item=q+1'
    """
    return "../?" + urlencode({"task": slug, "tab": "scrutiny", "item": external_id})
