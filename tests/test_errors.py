"""Failures say what happened and what to do about it."""

import ast

import pytest

from holdfast.model import errors
from holdfast.model.errors import HoldfastError
from tests.rows import each
from tests.test_layers import SOURCE, modules

CLASSES = {name: one for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, HoldfastError)}
# What was given can be wrong in a way that its message says altogether ("64 is the most"); the others leave a question.
ASKING = sorted(name for name, one in CLASSES.items() if one.exit_code in (3, 4, 5) or name == "InvalidConfig")


@pytest.mark.xdist_group("layers")  # one process parses the product
def test_every_failure_that_leaves_a_question_answers_it() -> None:
    raised = [
        (f"{path.relative_to(SOURCE)}:{node.lineno}", ast.unparse(node.exc).partition("(")[0], node.exc)
        for path, nodes in modules()
        for node in nodes
        if isinstance(node, ast.Raise) and node.exc is not None
    ]
    assert len(raised) > 100
    silent = [
        (place, name)
        for place, name, made in raised
        if name in ASKING
        and not CLASSES[name].remedy
        and not (isinstance(made, ast.Call) and any(word.arg == "hint" for word in made.keywords))
    ]
    assert silent == []


def test_the_codes_of_errors_stay_as_programs_know_them() -> None:
    assert {one.code for one in CLASSES.values()} == set(
        "error invalid invalid_config invalid_file not_found ambiguous conflict not_saved forbidden store not_a_store newer_store "
        "store_corrupt store_full store_unwritable store_busy unreachable replica embedder missing_package".split()
    )


@each("name", CLASSES)
def test_every_error_has_a_message_a_code_and_an_exit_code(name: str) -> None:
    problem = CLASSES[name]()
    assert problem.message == (CLASSES[name].__doc__ or "").splitlines()[0]
    assert problem.code != "error" or name == "HoldfastError"
    assert problem.exit_code in (1, 3, 4, 5, 64)
    assert str(problem) == f"{problem.message} {problem.remedy}".strip()
    assert CLASSES[name]("It broke.", hint="Mend it.").hint == "Mend it."
