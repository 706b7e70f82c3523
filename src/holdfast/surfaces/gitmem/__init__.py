"""The compatible surface of GitMem: sessions with a closing ceremony, scars that need confirmation, threads."""

from holdfast.surfaces.gitmem.tools import surface

__all__ = ["surface"]
