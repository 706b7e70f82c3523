"""Back up, salvage and copy stores."""
