"""Replicas: copies of records outside the store that sync both ways."""
