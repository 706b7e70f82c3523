"""What a session is told and asked: briefs, closing, evidence, triggers."""
