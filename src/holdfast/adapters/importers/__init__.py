"""Readers of other systems: each gives what it finds as values of `model.foreign`, and changes nothing there."""
