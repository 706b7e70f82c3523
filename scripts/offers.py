"""Write down what every surface offers: `python3 dev.py uv run python scripts/offers.py`, after a tool has changed."""

import json
from dataclasses import asdict

from holdfast.hosts.mcp.offer import offer_file, offer_of
from holdfast.hosts.mcp.serving import SURFACES, surface_named

for name in SURFACES:
    offer = offer_of([surface_named(name)])
    offer_file(name).write_text(json.dumps(asdict(offer), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(
        f"{name}: {len(offer.tools)} tools, {len(offer.resources + offer.templates)} resources, {len(offer.prompts)} prompts"
    )
