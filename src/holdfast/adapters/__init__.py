"""Adapters to other people's things, each behind a port of `model.ports`."""
