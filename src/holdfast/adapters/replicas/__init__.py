"""Copies of records that live elsewhere and sync both ways."""
