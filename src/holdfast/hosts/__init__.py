"""How Holdfast is reached: command line, benchmarks, and later MCP, hooks and the web."""
