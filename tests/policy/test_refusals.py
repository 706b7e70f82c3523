"""Every refusal has a code, a reason and a hint, and a hint names only what the host can do."""

from typing import get_args

from holdfast.model.record import Record
from holdfast.policy.admission import admit
from holdfast.policy.admission.admit import Refused, Remedies, Similar, explain, explain_pending
from tests.rows import each, missing, rows

OLD = Similar(record=Record(id="01X", title="Deploys run on {Fridays}.", reason="they moved."), similarity=0.9)
HOST: Remedies = rows("remedies_of_a_host")
# A refusal, its code, what its reason names, and the ways out of a host that has every one.
CASES: list[tuple[Refused, str, tuple[str, ...], tuple[str, ...]]] = [
    (admit.Duplicate(matches=(OLD,)), "duplicate", (OLD.record.title, "(01X)"), ("edit 01X", "--force")),
    (admit.PreviouslyRemoved(matches=(OLD,)), "previously_removed", ("they moved.",), ("undo 01X", "--force")),
    (admit.Transient(markers=("now",)), "transient", ('"now"',), ("--transient",)),
    (admit.ScopeMismatch(suggested=("projects:a",)), "scope_mismatch", ("a",), ("--scope projects:a", "--any-scope")),
    (admit.SecretFound(names=("npm token",)), "secret_found", ("npm token",), ("--redact",)),
]


@each(("refused", "code", "names", "ways"), CASES)
def test_a_refusal_has_a_reason_and_the_remedies_of_the_host(
    refused: Refused, code: str, names: tuple[str, ...], ways: tuple[str, ...]
) -> None:
    found, alone = explain(refused, HOST), explain(refused)
    assert (found.code, missing(found.reason, *names), missing(found.hint, *ways)) == (code, [], [])
    assert ([way for way in ways if way in alone.hint], alone.reason) == ([], found.reason)
    assert str(found) == f"Not saved: {found.reason} {found.hint}"


def test_every_refusal_is_in_the_table_and_only_what_the_host_has_is_a_way_out() -> None:
    assert {type(refused) for refused, *_ in CASES} == set(get_args(Refused))
    twice = admit.Duplicate(matches=(OLD,))
    assert explain(twice, HOST).hint == "Change that one with edit 01X, or save this one too with --force."
    assert explain(twice, {**HOST, "revise": ""}).hint == "Save this one too with --force."
    assert explain_pending("01X", HOST) == "Approve it with yes 01X, or reject it with no 01X."
