-- The rowid is the number of the chunk.
create virtual table if not exists chunk_words using fts5 (body, tokenize = 'unicode61 remove_diacritics 0', detail = none);
-- postgres
create table if not exists chunk_words (rowid integer primary key, lexemes tsvector not null);
create index if not exists chunk_words_lexemes on chunk_words using gin (lexemes);
