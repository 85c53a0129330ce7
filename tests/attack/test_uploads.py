"""Uploads that would harm one another: two files of one name, of which one would take the other's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from coeval.errors import InputError
from coeval.ui.setup.import_tab import _gathered


def make_uploads(folder: Path, *names: str) -> list[str]:
    """Each upload in a folder of its own, as Gradio keeps them."""
    paths = []
    for number, name in enumerate(names):
        path = folder / str(number) / name
        path.parent.mkdir()
        path.write_text(f"upload {number}", encoding="utf-8")
        paths.append(str(path))
    return paths


def test_two_uploads_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = make_uploads(tmp_path, "ratings.csv", "instances.csv", "ratings.csv")
    with pytest.raises(InputError, match="Two files are named ratings.csv"), _gathered(paths):
        pass


def test_uploads_of_different_names_stand_side_by_side_until_they_were_read(tmp_path: Path) -> None:
    with _gathered(make_uploads(tmp_path, "ratings.csv", "instances.csv")) as folder:
        assert {path.name: path.read_text() for path in folder.iterdir()} == {
            "ratings.csv": "upload 0",
            "instances.csv": "upload 1",
        }
    assert not folder.exists()
