"""Write down what every surface offers: `python3 dev.py uv run python scripts/offers.py`, after a tool has changed."""

import json
from dataclasses import asdict

from holdfast.hosts.mcp.protocol import FILE, offer_of, surface_folder
from holdfast.hosts.mcp.serving import SURFACES, surface_named
from holdfast.surfaces.tool import CONTRACT

for name in SURFACES:
    offer = offer_of(surface_named(name))
    if not (surface_folder(name) / CONTRACT).exists():  # there the contract says it
        # A line for each tool, resource and prompt: a change of one is a change of its line.
        parts = []
        for key, value in asdict(offer).items():
            rows = [json.dumps(row, ensure_ascii=False) for row in value] if isinstance(value, list | tuple) else []
            text = "[\n" + ",\n".join(rows) + "\n]" if rows else json.dumps(value, ensure_ascii=False)
            parts.append(f'"{key}": {text}')
        written = "{\n" + ",\n".join(parts) + "\n}\n"
        (surface_folder(name) / FILE).write_text(written, encoding="utf-8")
    print(
        f"{name}: {len(offer.tools)} tools, {len(offer.resources + offer.templates)} resources, {len(offer.prompts)} prompts"
    )
