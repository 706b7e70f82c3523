"""Two wordings of the same scar, so that what works can be measured instead of guessed."""

from hashlib import blake2b

from holdfast.model.record import Record
from holdfast.model.text import shorten

VARIANTS = ("steps", "goal")  # what to do, against what must be true in the end
LONGEST = 160


def variant_of(who: str, scar_id: str) -> str:
    """Give the wording somebody gets to see of a scar: by chance, but always the same one."""
    return VARIANTS[blake2b(f"{who}\n{scar_id}".encode(), digest_size=1).digest()[0] % len(VARIANTS)]


def wording(scar: Record, variant: str) -> str:
    """Give a scar's advice in one of its wordings; nothing when it holds none."""
    steps, checks = _items(scar, "action_protocol"), _items(scar, "self_check")
    if variant == "steps":
        told = [*steps, *checks]
        return _joined("Do: ", told)
    return _joined("Done when: ", [*checks, *steps])


def _items(scar: Record, name: str) -> list[str]:
    value = scar.fields.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _joined(lead: str, items: list[str]) -> str:
    return lead + "; ".join(shorten(item, LONGEST) for item in items[:3]) if items else ""
