"""The compatible surface of bettermemory: search with staleness, gated writes, tombstones, curation."""

import json
from functools import partial

from holdfast.surfaces.bettermemory.tools import CONTRACT, ROWS, TERMS
from holdfast.surfaces.bettermemory.verbs import memory_for
from holdfast.surfaces.maps import surface_of

present = partial(json.dumps, ensure_ascii=False, indent=2)
surface = surface_of(CONTRACT, ROWS, terms=TERMS, memory_for=memory_for, present=present)
