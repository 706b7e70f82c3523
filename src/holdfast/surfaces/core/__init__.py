"""The native surface: few tools that a model understands without a manual."""
