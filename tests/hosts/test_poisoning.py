"""No attack on the memory gets through, and each would where texts are only put one after another."""

import json

from bench.poisoning import ATTACKS, QUOTED, outcomes
from holdfast.model.fence import attribute, escaped, inline
from tests.rows import sampled


def test_no_attack_gets_through_and_each_works_on_plain_concatenation() -> None:
    found = dict(outcomes([*(ATTACKS.keys() - QUOTED), *sampled(QUOTED, 9)]))
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
