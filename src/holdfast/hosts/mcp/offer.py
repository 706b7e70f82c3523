"""The offer of a surface: its tools, resources and prompts as clients list them.

It is stored next to each surface (offer.json), because a client lists the tools at startup and importing their code
takes several times as long as reading the file. `scripts/offers.py` writes the file again after a change; a test fails
if that was forgotten. A surface with a contract has no offer.json: its offer is read from the contract.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import holdfast
from holdfast.model.errors import Invalid
from holdfast.surfaces import contract
from holdfast.surfaces.tool import Prompt, Resource, Surface, Tool

Json = dict[str, Any]
FILE = "offer.json"
LISTS = ("tools", "resources", "templates", "prompts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Everything a client can list without running anything."""

    instructions: str
    tools: list[Json]
    resources: list[Json]
    templates: list[Json]
    prompts: list[Json]
    aliases: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """Every name a tool can be called by."""
        return {tool["name"] for tool in self.tools} | set(self.aliases)


def offer_of(surfaces: Iterable[Surface]) -> Offer:
    """Return what a surface offers, always in the same order."""
    listed = list(surfaces)
    resources = [resource for surface in listed for resource in surface.resources.values()]
    return Offer(
        instructions="\n\n".join(surface.instructions for surface in listed if surface.instructions),
        tools=[tool_to_json(tool) for surface in listed for tool in surface.tools.values()],
        resources=[{"uri": one.uri, **_described(one)} for one in resources if not one.variable],
        templates=[{"uriTemplate": one.uri, **_described(one)} for one in resources if one.variable],
        prompts=[prompt_to_json(prompt) for surface in listed for prompt in surface.prompts.values()],
        aliases={alias: tool for surface in listed for alias, tool in surface.aliases.items()},
    )


def written_offer(name: str) -> Offer:
    """Return the stored offer of a surface."""
    folder = surface_folder(name)
    if not (folder / contract.FILE).exists():
        return Offer(**json.loads((folder / FILE).read_bytes()))
    given = contract.read_contract(folder)
    tools, resources = dict(given.tools), dict(given.resources)
    text = given.instructions
    return offer_of([Surface(name=name, instructions=text, aliases=given.aliases, tools=tools, resources=resources)])


def with_aliases(offer: Offer) -> Offer:
    """Return an offer that lists the aliases of tools as tools."""
    listed = {tool["name"]: tool for tool in offer.tools}
    others = [
        {**listed[tool], "name": alias, "description": f"Another name of {tool}. {listed[tool]['description']}"}
        for alias, tool in offer.aliases.items()
    ]
    return replace(offer, tools=[*offer.tools, *others])


def check_names(offers: Sequence[tuple[str, Offer]]) -> None:
    """Reject surfaces with different tools of the same name: clients could not tell them apart."""
    for (one, offer), (other, another) in combinations(offers, 2):
        if shared := sorted(offer.names & another.names):
            hint = "Add them to your client as two servers, each with one --surface."
            raise Invalid(f"The surfaces {one} and {other} both have a tool {', '.join(shared[:5])}.", hint=hint)


def joined(offers: Iterable[Offer]) -> Offer:
    """Return several offers as one."""
    every = list(offers)
    listed = {name: [item for offer in every for item in getattr(offer, name)] for name in LISTS}
    aliases = {alias: tool for offer in every for alias, tool in offer.aliases.items()}
    instructions = "\n\n".join(offer.instructions for offer in every if offer.instructions)
    return Offer(instructions=instructions, aliases=aliases, **listed)


def surface_folder(name: str) -> Path:
    """Return the folder of a surface, with its offer or contract."""
    return Path(holdfast.__file__).parent / "surfaces" / name.replace("-", "_")


def tool_to_json(tool: Tool) -> Json:
    """Return a tool as it is listed."""
    # Hints equal to the protocol's default are left out, and those that mean nothing for a read-only tool.
    annotations: Json = {"readOnlyHint": tool.read_only, "openWorldHint": False}
    if not tool.read_only:
        annotations |= {"destructiveHint": tool.destructive} | ({"idempotentHint": True} if tool.idempotent else {})
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        # `additionalProperties` is left out: an unknown argument gets an error that suggests the right name.
        "inputSchema": {name: part for name, part in tool.schema.items() if name != "additionalProperties"},
        "annotations": annotations,
    }


def prompt_to_json(prompt: Prompt) -> Json:
    """Return a prompt as it is listed."""
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
