"""Every refusal has a code, a reason and a hint, and a hint names only what the host can do."""

from typing import get_args

from holdfast.model.ids import short
from holdfast.policy.admission.admit import Duplicate, PreviouslyRemoved, Refused, ScopeMismatch, SecretFound, Transient
from holdfast.policy.admission.refusals import Refusal, Remedies, explain, explain_pending
from tests.policy.test_policy import similar
from tests.rows import each

OLD = similar(0.9, title="Deploys run on {Fridays}.", reason="they moved.")
HOST = Remedies(
    revise="edit {id}",
    restore="undo {id}",
    force="--force",
    transient="--transient",
    add_scope="--scope {scope}",
    any_scope="--any-scope",
    redact="--redact",
    approve="yes {id}",
    reject="no {id}",
)
SHORT = short(OLD.record.id)
CASES: list[tuple[Refused, Refusal, str]] = [
    (
        Duplicate(matches=(OLD,)),
        Refusal(
            code="duplicate",
            reason=f'"Deploys run on {{Fridays}}." ({SHORT}) already says this.',
            hint=f"Change that one with edit {SHORT}, or save this one too with --force.",
        ),
        "",
    ),
    (
        PreviouslyRemoved(matches=(OLD,)),
        Refusal(
            code="previously_removed",
            reason=f'"Deploys run on {{Fridays}}." ({SHORT}) said this and was retired: they moved.',
            hint=f"Restore it with undo {SHORT}, or save this one anyway with --force.",
        ),
        "",
    ),
    (
        Transient(markers=("currently",)),
        Refusal(
            code="transient",
            reason='"currently" suggests this will change.',
            hint="Reword it, or save it anyway with --transient.",
        ),
        "Reword it.",
    ),
    (
        ScopeMismatch(suggested=("projects:shop",)),
        Refusal(
            code="scope_mismatch",
            reason="The text is about shop, but the memory does not have that scope.",
            hint="Add --scope projects:shop, or save it anyway with --any-scope.",
        ),
        "Add the scope projects:shop.",
    ),
    (
        SecretFound(names=("npm token",)),
        Refusal(
            code="secret_found",
            reason="The text contains credentials (npm token).",
            hint="Remove them, or mask them with --redact.",
        ),
        "Remove them.",
    ),
]


@each(("refused", "expected", "alone"), CASES)
def test_a_refusal_has_a_reason_and_the_remedies_of_the_host(refused: Refused, expected: Refusal, alone: str) -> None:
    assert explain(refused, HOST) == expected
    assert explain(refused).hint == alone
    assert str(explain(refused, HOST)) == f"Not saved: {expected.reason} {expected.hint}"


def test_every_refusal_is_in_the_table() -> None:
    assert {type(refused) for refused, _, _ in CASES} == set(get_args(Refused))


def test_a_pending_memory_can_be_approved_or_rejected() -> None:
    assert explain_pending("01ARZ3NDEKTSV4RRFFQ69G5FAV", HOST) == (
        "Approve it with yes Q69G5FAV, or reject it with no Q69G5FAV."
    )
