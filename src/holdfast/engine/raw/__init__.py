"""Tables that are no views: the trail, outputs, transcripts, counters, keys."""
