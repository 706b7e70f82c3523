"""The compatible surface of Memory MCP: memories by integer ids, a hot cache, trust, mining, predictions, maintenance."""
