"""The code that the story is about: a small repository with a first version of each cited file, and what changed lately."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from demo.story import DATA, Area, Story

HOUR, DAY = 3_600, 86_400
_PATH = re.compile(r"\b[a-z][\w-]*(?:/[\w.\[\]-]+)+\.(?:py|tsx?|tf|ya?ml|sql|md|css|json|toml|sh)\b")
FIRST = 400  # days before the end of the story at which the first version was committed: it is never moved
VALUES = {  # of settings that memories state
    "ADMIN_PAGE_SIZE": "50",
    "CARRIER_TIMEOUT_MS": "800",
    "CART_TTL_HOURS": "72",
    "HELM_TIMEOUT": "300",
    "LOGIN_MAX_ATTEMPTS": "5",
    "PSP_WEBHOOK_TOLERANCE": "300",
}
NAMED = {  # functions that memories name
    "services/checkout/reserve.py": "reserve_stock",
    "services/pricing/rounding.py": "allocate",
    "services/stock/levels.py": "available",
}
GIVEN = {"reserve_stock": "cart", "allocate": "total, parts", "available": "sku"}
BODIES = {
    "reserve_stock": ("for line in cart.lines:", "    with transaction() as rows:", "        rows.lock(line.sku)"),
    "allocate": ("shares = [round(part, 2) for part in parts]", "return shares"),
    "available": ("return levels[sku] - safety_stock(sku)",),
}
LATER = {
    "reserve_stock": (
        "with transaction() as rows:",
        "    for line in sorted(cart.lines, key=lambda line: line.sku):",
        "        rows.lock(line.sku)",
    ),
    "allocate": (
        "shares = [round(part, 4) for part in parts]",
        "shares[largest(parts)] += total - sum(shares)",
        "return shares",
    ),
}
# What changed lately: hours before the end, the author, the message, and how the files changed.
CHANGES: tuple[tuple[int, str, str, Mapping[str, str]], ...] = (
    (140, "Mira", "Lock stock rows in the order of their sku", {"reserve_stock": "services/checkout/reserve.py"}),
    (70, "Jonas", "List 100 orders on a page of the admin", {"ADMIN_PAGE_SIZE": "100"}),
    (52, "Mira", "Give leftover cents to the largest line", {"allocate": "services/pricing/rounding.py"}),
    (29, "Jonas", "Accept webhooks of the payment provider for ten minutes", {"PSP_WEBHOOK_TOLERANCE": "600"}),
    (5, "Mira", "Remove the SMS channel", {"-": "services/notifications/sms.py"}),
)


def history(story: Story, until: float) -> bytes:
    """Return the repository as a stream for `git fast-import`; the same story makes the same commits."""
    areas = [area for area in story.areas.values() if area.project == story.main]
    files = {path: text for area in areas for path, text in _files(area)}
    named = {path for file in DATA.glob("*.toml") if file.stem != "side" for path in _PATH.findall(file.read_text())}
    files |= {path: _text(path, "kept", "notes", "the shop", None, {}) for path in sorted(named - {*files})}
    files |= {
        "README.md": "# Storefront\n\nThe shop of Fernhill.\n",
        "Makefile": "test:\n\tuv run pytest -q services\n",
    }
    parts = [_commit("Mira", int(until) - FIRST * DAY, "Begin the shop", files)]
    values, bodies = dict(VALUES), dict(BODIES)
    for hours, author, message, changed in CHANGES:
        values |= {name: value for name, value in changed.items() if name in VALUES}
        bodies |= {name: LATER[name] for name in changed if name in LATER}
        now = {path: text for area in areas for path, text in _files(area, values, bodies)}
        now = {path: text for path, text in now.items() if path != changed.get("-")}
        new = {path: text for path, text in now.items() if text != files.get(path)}
        parts.append(_commit(author, int(until) - hours * HOUR, message, new, changed.get("-", "")))
        files |= new
    return b"".join(parts)


def _commit(author: str, at: int, message: str, files: Mapping[str, str], gone: str = "") -> bytes:
    who = f"{author} <{author.lower()}@fernhill.example> {at} +0000"
    said = message.encode()
    parts = [f"commit refs/heads/main\ncommitter {who}\ndata {len(said)}\n".encode(), said, b"\n"]
    for path, text in sorted(files.items()):
        raw = text.encode()
        parts += [f"M 100644 inline {path}\ndata {len(raw)}\n".encode(), raw, b"\n"]
    return b"".join([*parts, f"D {gone}\n".encode() if gone else b"", b"\n"])


def _files(
    area: Area, values: Mapping[str, str] = VALUES, bodies: Mapping[str, tuple[str, ...]] = BODIES
) -> Iterator[tuple[str, str]]:
    """Yield the files of an area with made-up code: the setting of the area in the first, its nouns in comments."""
    for place, path in enumerate(area.files):
        stem = PurePosixPath(path).stem.replace("-", "_").replace(".", "_")
        noun, call = area.nouns[place % len(area.nouns)], area.calls[place % len(area.calls)]
        setting = (area.env, values.get(area.env, "30")) if place == 0 else None
        yield path, _text(path, stem, noun, call, setting, bodies)


def _text(
    path: str, stem: str, noun: str, call: str, setting: tuple[str, str] | None, bodies: Mapping[str, tuple[str, ...]]
) -> str:
    about, name = (
        f"{noun[:1].upper()}{noun[1:]}, for {call}.",
        NAMED.get(path, f"{stem}_{noun.rsplit(maxsplit=1)[-1].lower()}"),
    )
    name = "".join(char if char.isalnum() or char == "_" else "_" for char in name)
    body = bodies.get(
        name, (f"checked = validate_{stem}(value)", f'log.info("{stem}", value=checked)', "return checked")
    )
    if path.endswith(".py"):
        head = [f'"""{about}"""', "", *([f"{setting[0]} = {setting[1]}", ""] if setting else []), ""]
        first = [
            f"def {name}({GIVEN.get(name, 'value')}):",
            f'    """Handle {noun}."""',
            *(f"    {line}" for line in body),
            "",
            "",
        ]
        second = [
            f"def validate_{stem}(value):",
            "    if value is None:",
            f'        raise ValueError("{noun}")',
            "    return value",
        ]
        return "\n".join([*head, *first, *second, ""])
    if path.endswith((".ts", ".tsx")):
        head = [f"// {about}", *([f"export const {setting[0]} = {setting[1]};"] if setting else []), ""]
        code = [f"export function {name}(value: unknown) {{", f'  return check(value, "{noun}");', "}"]
        return "\n".join([*head, *code, ""])
    sign = "--" if path.endswith(".sql") else "#"
    lines = [f"{sign} {about}", *([f"{sign} {setting[0]} = {setting[1]}"] if setting else []), f"{sign} {name}"]
    return "\n".join([*lines, ""]) if not path.endswith(".css") else f"/* {about} */\n:root {{ --{stem}: 1; }}\n"
