"""The web viewer: one local page where a person sees, searches, judges and corrects the memory."""
