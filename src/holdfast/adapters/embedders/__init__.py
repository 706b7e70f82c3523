"""Embedders: turn text into vectors."""
