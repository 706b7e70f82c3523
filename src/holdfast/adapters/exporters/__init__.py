"""Writers of other systems' files."""
