"""Decide what may be stored, imported and shared."""
