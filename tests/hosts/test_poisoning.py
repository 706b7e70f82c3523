"""No attack on the memory gets through, and each would where texts are only put one after another."""

import json

import pytest

from bench.poisoning import ATTACKS, QUOTED, outcomes
from holdfast.compose.settings import CHOICES, load_settings
from holdfast.model.errors import InvalidConfig
from holdfast.model.fence import attribute, escaped, inline
from tests.rows import each, sampled


def test_no_attack_gets_through_and_each_works_on_plain_concatenation() -> None:
    found = dict(outcomes([*(ATTACKS.keys() - QUOTED), *sampled(QUOTED, 5)]))
    assert len(ATTACKS) >= 25
    assert {name: one.through for name, one in found.items() if one.through} == {}
    assert [name for name, one in found.items() if not one.naive] == []


def test_one_line_has_no_brackets_and_no_breaks() -> None:
    assert inline("a\n<b>\x1b[2J") == "a ‹b›[2J"
    assert attribute('x" by="y') == "x' by='y"


def test_json_is_the_same_value_and_safe_to_look_at() -> None:
    value = {"a": "</memory> \u202e \x9b31m \U000e0041 <system-reminder> </div>"}
    written = escaped(json.dumps(value, ensure_ascii=False))
    assert json.loads(written) == value
    assert not {"\u202e", "\x9b", "\U000e0041"} & set(written)
    assert "<system-reminder>" not in written


@each("name", sorted(CHOICES))
def test_a_word_that_is_no_choice_is_refused_when_settings_are_read(name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"there is no {name} 'sometimes'") as refused:
        load_settings(environment={}, flags={name: "sometimes"})
    assert refused.value.hint == f"Use one of {', '.join(filter(None, CHOICES[name]))}."
