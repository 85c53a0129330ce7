"""Images of instances: what is taken, what is refused by name with a remedy, and what a column is recognised by."""

from __future__ import annotations

import base64

import pytest

from coeval.datasets.text import check_text
from coeval.domain import MAX_TEXT, ColumnRole, Instance, Task
from coeval.errors import InputError
from coeval.rules.column_roles import (
    ImageError,
    guess_column,
    is_allowed,
    list_images,
    looks_like_image,
    read_image,
    select_context,
)
from coeval.usecases.images import _read_host

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def data(content: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


@pytest.mark.parametrize(
    ("value", "host"),
    [
        ("https://images.example.org/a.png", "images.example.org"),
        (" HTTPS://Images.Example.org:8443/a?size=2#x ", "images.example.org:8443"),
        (data(PNG), ""),
        (data(b"\xff\xd8\xff\xe0rest", "jpg"), ""),
        (data(b"GIF89arest", "GIF"), ""),
        (data(b"RIFF\x01\x02\x03\x04WEBPVP8 ", "webp"), ""),
    ],
)
def test_images_that_are_taken(value: str, host: str) -> None:
    assert read_image("photo", value).host == host


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("http://images.example.org/a.png", "begins with https://"),
        ("javascript:alert(1)", "begins with https://"),
        ("file:///etc/passwd", "begins with https://"),
        ("//images.example.org/a.png", "begins with https://"),
        ("https://images.example.org@evil.example/a.png", "begins with https://"),
        ("https://images.example.org\\@evil.example/a.png", "begins with https://"),
        ("https://images.example.org/a b.png", "begins with https://"),
        ("https://images.example.org/a.png;img-src *", "begins with https://"),
        ("https://localhost/a.png", "begins with https://"),
        ("https://[::1]/a.png", "begins with https://"),
        ("https://[broken/a.png", "begins with https://"),
        ("https://images.example.org/a.svg", "SVG can hold scripts"),
        ("https://images.example.org/" + "a" * 2_000, "at most 2,000"),
        ("data:image/svg+xml,<svg onload=alert(1)>", "SVG can hold scripts"),
        ("data:image/svg+xml;base64,PHN2Zz4=", "SVG can hold scripts"),
        ("data:text/html;base64,PHA+", "give PNG, JPEG, GIF or WebP"),
        ("data:image/png,plain", "give PNG, JPEG, GIF or WebP"),
        ("data:image/bmp;base64,Qk0=", "give PNG, JPEG, GIF or WebP"),
        ("data:image/png;base64,!!!!", "is incomplete"),
        (data(b"<svg onload=alert(1)>"), "the data is not PNG"),
        (data(PNG, "jpeg"), "the data is not JPEG"),
    ],
)
def test_hostile_and_broken_values_are_refused_with_a_remedy(value: str, why: str) -> None:
    with pytest.raises(ImageError, match="“photo”") as refused:
        read_image("photo", value)
    assert why in str(refused.value)


def test_hosts() -> None:
    assert is_allowed("a.example.org", ["a.example.org"]) and is_allowed("a.b.example.org", ["*.example.org"])
    assert not is_allowed("example.org.evil.example", ["example.org", "*.example.org"])
    assert not is_allowed("a.example.org:8443", ["a.example.org"])
    pasted = ["https://A.example.org/some/path", "*.example.org", "bücher.example", "a.example.org:8443"]
    assert [_read_host(name) for name in pasted] == [
        "a.example.org",
        "*.example.org",
        "xn--bcher-kva.example",
        "a.example.org:8443",
    ]
    for bad in ("*", "'self'", "data:", "*.org;script-src", "localhost", "a..b", "https://"):
        with pytest.raises(InputError, match="is not a host name"):
            _read_host(bad)


def test_a_column_of_images_is_recognised_and_is_no_text() -> None:
    found = guess_column("photo", ["https://a.example.org/1.JPG", "", data(PNG)])
    assert found.role is ColumnRole.IMAGE
    assert guess_column("photo", ["https://a.example.org/1.png", "none"]).role is ColumnRole.HIDDEN
    assert guess_column("link", ["https://a.example.org/about"]).role is ColumnRole.HIDDEN
    assert not looks_like_image("see https://a.example.org/1.png")
    columns = {"photo": ColumnRole.IMAGE, "topic": ColumnRole.SHOWN}
    context = {"photo": data(PNG), "topic": "bees"}
    assert select_context(context, columns, judge=True) == {"topic": "bees"}
    assert select_context(context, columns, judge=False) == {"topic": "bees"}
    task = Task("t", "T", columns=columns)
    assert [image.name for image in list_images(task, Instance("1", "q", "a", context=context))] == ["photo"]
    assert list_images(task, Instance("1", "q", "a", context={"photo": "  "})) == []


def test_an_image_that_is_too_large_for_a_cell_is_told_what_to_do() -> None:
    remedy = "make the image smaller, or give its https address"
    with pytest.raises(InputError, match=f"line 2.*the limit is {MAX_TEXT:,}; {remedy}"):
        check_text("data:image/png;base64," + "A" * MAX_TEXT, "line 2")
