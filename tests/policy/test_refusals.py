"""Every refusal has a code, a reason and a hint, and a hint names only what the host can do."""

from typing import get_args

from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.policy.admission.admit import (
    Duplicate,
    PreviouslyRemoved,
    Refusal,
    Refused,
    Remedies,
    ScopeMismatch,
    SecretFound,
    Similar,
    Transient,
    explain,
    explain_pending,
)
from tests.rows import each

OLD = Similar(record=Record(id="X", title="Deploys run on {Fridays}.", reason="they moved."), similarity=0.9)
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
CASES: list[tuple[Refused, str, str, str, str]] = [
    (
        Duplicate(matches=(OLD,)),
        *("duplicate", f'"Deploys run on {{Fridays}}." ({SHORT}) already says this.'),
        *(f"Change that one with edit {SHORT}, or save this one too with --force.", ""),
    ),
    (
        PreviouslyRemoved(matches=(OLD,)),
        *("previously_removed", f'"Deploys run on {{Fridays}}." ({SHORT}) said this and was retired: they moved.'),
        *(f"Restore it with undo {SHORT}, or save this one anyway with --force.", ""),
    ),
    (
        Transient(markers=("currently",)),
        *("transient", '"currently" suggests this will change.'),
        *("Reword it, or save it anyway with --transient.", "Reword it."),
    ),
    (
        ScopeMismatch(suggested=("projects:shop",)),
        *("scope_mismatch", "The text is about shop, but the memory does not have that scope."),
        *("Add --scope projects:shop, or save it anyway with --any-scope.", "Add the scope projects:shop."),
    ),
    (
        SecretFound(names=("npm token",)),
        *("secret_found", "The text contains credentials (npm token)."),
        *("Remove them, or mask them with --redact.", "Remove them."),
    ),
]


@each(("refused", "code", "reason", "hint", "alone"), CASES)
def test_a_refusal_has_a_reason_and_the_remedies_of_the_host(
    refused: Refused, code: str, reason: str, hint: str, alone: str
) -> None:
    assert explain(refused, HOST) == Refusal(code=code, reason=reason, hint=hint)
    assert explain(refused).hint == alone
    assert str(explain(refused, HOST)) == f"Not saved: {reason} {hint}"


def test_every_refusal_is_in_the_table() -> None:
    assert {type(refused) for refused, *_ in CASES} == set(get_args(Refused))


def test_a_pending_memory_can_be_approved_or_rejected() -> None:
    assert explain_pending("01ARZ3NDEKTSV4RRFFQ69G5FAV", HOST) == (
        "Approve it with yes Q69G5FAV, or reject it with no Q69G5FAV."
    )
