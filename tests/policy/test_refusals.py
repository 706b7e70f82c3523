"""Every refusal has a code, a reason and a hint, and a hint names only what the host can do."""

from dataclasses import fields
from typing import get_args

from holdfast.model.ids import short
from holdfast.model.record import Record
from holdfast.policy.admission import admit
from holdfast.policy.admission.admit import Refusal, Refused, Remedies, Similar, explain, explain_pending
from tests.rows import each

OLD = Similar(record=Record(id="X", title="Deploys run on {Fridays}.", reason="they moved."), similarity=0.9)
WITH_ID, SCOPED = ("revise", "restore", "approve", "reject"), "--scope {scope}"
HOST = Remedies(
    **{one.name: f"--{one.name} {{id}}" if one.name in WITH_ID else f"--{one.name}" for one in fields(Remedies)}
    | {"add_scope": SCOPED}
)
TITLE = f'"{OLD.record.title}" ({short(OLD.record.id)})'
# A refusal, its code and reason, the hint of a host that has every remedy and of one that has none.
CASES: list[tuple[Refused, str, str, str, str]] = [
    (
        admit.Duplicate(matches=(OLD,)),
        "duplicate",
        f"{TITLE} already says this.",
        "Change that one with --revise {id}, or save this one too with --force.",
        "",
    ),
    (
        admit.PreviouslyRemoved(matches=(OLD,)),
        "previously_removed",
        f"{TITLE} said this and was retired: they moved.",
        "Restore it with --restore {id}, or save this one anyway with --force.",
        "",
    ),
    (
        admit.Transient(markers=("currently",)),
        "transient",
        '"currently" suggests this will change.',
        "Reword it, or save it anyway with --transient.",
        "Reword it.",
    ),
    (
        admit.ScopeMismatch(suggested=("projects:shop",)),
        "scope_mismatch",
        "The text is about shop, but the memory does not have that scope.",
        "Add --scope projects:shop, or save it anyway with --any_scope.",
        "Add the scope projects:shop.",
    ),
    (
        admit.SecretFound(names=("npm token",)),
        "secret_found",
        "The text contains credentials (npm token).",
        "Remove them, or mask them with --redact.",
        "Remove them.",
    ),
]


@each(("refused", "code", "reason", "hint", "alone"), CASES)
def test_a_refusal_has_a_reason_and_the_remedies_of_the_host(
    refused: Refused, code: str, reason: str, hint: str, alone: str
) -> None:
    hint = hint.replace("{id}", short(OLD.record.id))
    assert explain(refused, HOST) == Refusal(code=code, reason=reason, hint=hint)
    assert explain(refused).hint == alone
    assert str(explain(refused, HOST)) == f"Not saved: {reason} {hint}"


def test_every_refusal_is_in_the_table_and_a_pending_memory_can_be_approved_or_rejected() -> None:
    assert {type(refused) for refused, *_ in CASES} == set(get_args(Refused))
    pending = explain_pending("01ARZ3NDEKTSV4RRFFQ69G5FAV", HOST)
    assert pending == "Approve it with --approve Q69G5FAV, or reject it with --reject Q69G5FAV."
