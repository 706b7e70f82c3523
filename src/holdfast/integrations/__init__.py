"""Holdfast as the memory of other frameworks; each module needs the optional packages of its name."""
