"""Two wordings of a scar's advice, so that their effect can be compared."""

from hashlib import blake2b

from holdfast.model.record import Record
from holdfast.model.text import shorten, texts_of

VARIANTS = ("steps", "goal")  # what to do, or what must be true in the end
LONGEST = 160


def variant_of(who: str, scar_id: str) -> str:
    """Return the wording an agent gets of a scar: random, but always the same one."""
    return VARIANTS[blake2b(f"{who}\n{scar_id}".encode(), digest_size=1).digest()[0] % len(VARIANTS)]


def wording(scar: Record, variant: str) -> str:
    """Return a scar's advice in one of its wordings; "" if it has none."""
    steps, checks = (texts_of(scar.fields.get(name)) for name in ("action_protocol", "self_check"))
    if variant == "steps":
        return _joined("Do: ", [*steps, *checks])
    return _joined("Done when: ", [*checks, *steps])


def _joined(lead: str, items: list[str]) -> str:
    return lead + "; ".join(shorten(item, LONGEST) for item in items[:3]) if items else ""
