"""Store Holdfast's data in PostgreSQL: connections, timeouts, roles and row security."""
