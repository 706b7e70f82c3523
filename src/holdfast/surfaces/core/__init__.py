"""The native surface: a small set of tools, with resources and prompts."""
