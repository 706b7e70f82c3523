"""A lazy pattern behaves as a compiled one, and an invalid one is reported at its first use."""

import re

import pytest

from holdfast.model.patterns import lazy


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    found = lazy(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert [match["word"] for match in found.finditer("Two words")] == ["Two", "words"]
    assert (found.sub("x", "a b"), found.pattern, found.search("1")) == ("x x", r"(?P<word>[a-z]+)", None)


def test_an_invalid_pattern_fails_when_it_is_used() -> None:
    broken = lazy("(")
    with pytest.raises(re.error):
        broken.search("")
