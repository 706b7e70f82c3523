"""The PostgreSQL engine: connections, timeouts, roles and row security."""
