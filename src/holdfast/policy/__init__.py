"""Pure functions that judge, weigh and mask, without a database or a clock."""
