"""The compatible surface of claude-mem: an index, a timeline and full texts, by integer ids."""

from holdfast.surfaces.claude_mem.tools import surface

__all__ = ["surface"]
