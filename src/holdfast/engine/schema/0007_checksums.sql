-- A checksum over the columns of an event, so that damage inside a row can be seen. Empty where an older version wrote the row.

alter table events add column checksum integer;
