"""Work in sessions: start and close, threads, scars, transcripts."""
