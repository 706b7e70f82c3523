-- The tokenizer only has to split at spaces; positions are not used.
create virtual table words using fts5 (body, tokenize = 'unicode61 remove_diacritics 0', detail = none);
-- postgres
create table words (
    rowid integer primary key,
    body text not null,
    lexemes tsvector not null
);
