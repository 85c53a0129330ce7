"""Names that look the same are the same; characters that nobody sees are refused where they do nothing."""

from __future__ import annotations

import pytest

from coeval.errors import InputError
from coeval.folded_text import normalize_name

JOSE = "Jos\u00e9"


@pytest.mark.parametrize("text", [JOSE, "Jose\u0301", "  Jose\u0301\n", "\u00a0José"])
def test_one_name_in_several_forms_is_one(text: str) -> None:
    assert normalize_name(text) == JOSE


@pytest.mark.parametrize(
    "code", [0x200B, 0x200C, 0x200D, 0x200E, 0x2060, 0xFEFF, 0x00AD, 0x202E, 0x2066, 0x3164, 0x2800, 0x034F]
)
def test_what_nobody_sees_is_refused_by_its_number(code: int) -> None:
    with pytest.raises(InputError, match=rf"“Ana” contains an invisible character .U\+{code:04X}."):
        normalize_name(f"An{chr(code)}a")


@pytest.mark.parametrize(
    "text", ["علی\u200cرضا", "क्\u200dष", "👩\u200d🌾", "👩🏽\u200d🔬", "שלום", "日本語", "O’Neil"]
)
def test_what_shapes_letters_and_emoji_stays(text: str) -> None:
    assert normalize_name(text) == text
