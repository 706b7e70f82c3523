"""Every required behaviour names a test that is really there."""

import ast
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BEHAVIOURS = [
    (behaviour, test)
    for area in tomllib.loads((HERE / "behaviours.toml").read_text(encoding="utf-8")).values()
    for behaviour, test in area.items()
]


@pytest.mark.parametrize(("behaviour", "test"), BEHAVIOURS, ids=[behaviour for behaviour, _ in BEHAVIOURS])
def test_a_required_behaviour_is_proved_by_a_test(behaviour: str, test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((HERE.parent / file).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in defined if name else any(one.startswith("test_") for one in defined), behaviour
