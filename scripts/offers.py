"""Write down what every surface offers: `python3 dev.py uv run python scripts/offers.py`, after a tool has changed."""

import json
from dataclasses import asdict

from holdfast.hosts.mcp.offer import FILE, offer_of, surface_folder
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.surfaces import contract

for name in SURFACES:
    offer = offer_of([surface_named(name)])
    if not (surface_folder(name) / contract.FILE).exists():  # there the contract says it
        written = json.dumps(asdict(offer), indent=1, ensure_ascii=False) + "\n"
        (surface_folder(name) / FILE).write_text(written, encoding="utf-8")
    print(
        f"{name}: {len(offer.tools)} tools, {len(offer.resources + offer.templates)} resources, {len(offer.prompts)} prompts"
    )
