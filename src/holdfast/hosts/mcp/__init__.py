"""The Model Context Protocol: handlers that every transport shares, and our own lean stdio host."""
