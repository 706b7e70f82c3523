"""What a surface offers, as clients see it listed.

It is also written down beside each surface (offer.json): a client that starts us wants the list at once, and importing
everything the tools can do takes several times as long as reading it. `scripts/offers.py` writes it anew after a change;
a test says when that was forgotten.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import holdfast
from holdfast.surfaces.tool import Prompt, Resource, Surface, Tool

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Everything a client can be told without running anything."""

    instructions: str
    tools: list[Json]
    resources: list[Json]
    templates: list[Json]
    prompts: list[Json]


def offer_of(surfaces: Iterable[Surface]) -> Offer:
    """Give what surfaces offer, always in the same order."""
    listed = list(surfaces)
    resources = [resource for surface in listed for resource in surface.resources.values()]
    return Offer(
        instructions="\n\n".join(surface.instructions for surface in listed if surface.instructions),
        tools=[tool_to_json(tool) for surface in listed for tool in surface.tools.values()],
        resources=[{"uri": one.uri, **_described(one)} for one in resources if not one.variable],
        templates=[{"uriTemplate": one.uri, **_described(one)} for one in resources if one.variable],
        prompts=[prompt_to_json(prompt) for surface in listed for prompt in surface.prompts.values()],
    )


def written_offer(name: str) -> Offer:
    """Give what was written down of a surface."""
    return Offer(**json.loads(offer_file(name).read_bytes()))


def joined(offers: Iterable[Offer]) -> Offer:
    """Give several offers as one."""
    first, *rest = offers
    for other in rest:
        first = Offer(
            instructions="\n\n".join(text for text in (first.instructions, other.instructions) if text),
            tools=first.tools + other.tools,
            resources=first.resources + other.resources,
            templates=first.templates + other.templates,
            prompts=first.prompts + other.prompts,
        )
    return first


def offer_file(name: str) -> Path:
    """Give where the offer of a surface is written down."""
    return Path(holdfast.__file__).parent / "surfaces" / name / "offer.json"


def tool_to_json(tool: Tool) -> Json:
    """Write a tool as it is listed."""
    # Left out where the protocol's default says the same: what a read-only tool destroys, what a writer repeats.
    annotations: Json = {"readOnlyHint": tool.read_only, "openWorldHint": False}
    if not tool.read_only:
        annotations |= {"destructiveHint": tool.destructive} | ({"idempotentHint": True} if tool.idempotent else {})
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        # That unknown arguments are refused shows when one is given, with the name that was meant.
        "inputSchema": {name: part for name, part in tool.schema.items() if name != "additionalProperties"},
        "annotations": annotations,
    }


def prompt_to_json(prompt: Prompt) -> Json:
    """Write a prompt as it is listed."""
    required = prompt.schema.get("required", ())
    arguments = [
        {"name": name, "description": schema.get("description", ""), "required": name in required}
        for name, schema in prompt.schema["properties"].items()
    ]
    return {"name": prompt.name, "title": prompt.title, "description": prompt.description, "arguments": arguments}


def _described(resource: Resource) -> Json:
    return {
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime,
    }
