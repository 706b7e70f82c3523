"""What a memory is: events, records, kinds, queries, errors and the ports. Pure and standard library only."""
