"""How Holdfast is reached: command line, MCP, hooks, the web viewer and the team server."""
