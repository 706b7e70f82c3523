"""Tables that are not derived from the journal: the trail, outputs, transcripts, counters and keys."""
