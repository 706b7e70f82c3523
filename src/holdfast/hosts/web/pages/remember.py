"""Remember something by hand: a form that passes the same checks as what agents save."""

from dataclasses import replace

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Conflict, HoldfastError, Invalid
from holdfast.model.kinds import KINDS
from holdfast.model.record import Draft
from holdfast.policy.admission.admit import SecretFound, Waivers
from holdfast.policy.admission.refusals import explain
from holdfast.verbs.records.undo import act
from holdfast.verbs.records.write import Written, WrittenPending, write

OFFERED = ("fact", "decision", "learning", "pattern", "preference", "reference", "scar", "win", "anti_pattern")


def page(ask: Ask, *, problem: HoldfastError | None = None, refused: bool = False) -> Response:
    """Return the form; after a refusal with the reason, and with what was typed."""
    shown = {"problem": problem, "can_insist": refused, "names": [name for name in OFFERED if name in KINDS]}
    typed = {"typed": lambda name, default="": ask.field(name, default)}
    return render.page(
        ask,
        "remember.html",
        status=400 if isinstance(problem, Invalid) else 409 if problem else 200,
        title="Remember",
        **shown,
        **typed,
    )


def save(ask: Ask) -> Response:
    """Save a memory; a refusal is explained next to the form and can be overruled."""
    lines = [line.strip() for line in ask.field("counter_arguments").splitlines() if line.strip()]
    scar = {"severity": ask.field("severity") or "medium", "counter_arguments": lines}
    waivers = Waivers(duplicate=True, transient=True, scope=True) if ask.field("anyway") else None
    try:
        draft = Draft(
            body=ask.field("body"),
            kind=ask.field("kind") or "fact",
            fields=scar if ask.field("kind") == "scar" else {},
            scopes=tuple(ask.field("scopes").replace(",", " ").split()),
            tags=tuple(ask.field("tags").replace(",", " ").split()),
            anchors=tuple(line.strip() for line in ask.field("anchors").splitlines() if line.strip()),
        )
        done = act(ask.memory, lambda acting: ("Saved.", write(acting, draft, waivers=waivers)))
    except (Invalid, Conflict) as wrong:
        return page(ask, problem=wrong)
    if not isinstance(outcome := done.result, Written | WrittenPending):
        refusal = explain(outcome)
        problem = Conflict(f"Not saved: {refusal.reason}", hint=refusal.hint)
        return page(ask, problem=problem, refused=not isinstance(outcome, SecretFound))
    message = "Saved." if isinstance(outcome, Written) else "Saved. It is used once it is approved."
    return render.moved(ask, f"/r/{outcome.record.id}", replace(done, message=message))
