"""The core types: events, records, kinds, queries, errors and ports. Pure; imports only the standard library."""
