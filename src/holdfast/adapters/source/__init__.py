"""Locate cited places in source text."""
