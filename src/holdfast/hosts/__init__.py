"""How Holdfast is reached: command line, MCP, hooks, the web viewer, a team's server and the background worker."""
