"""Bring records in and out: replicas, imports, exports."""
