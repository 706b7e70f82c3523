"""What should be: pure functions that judge, weigh and mask, without a database or a clock of their own."""
