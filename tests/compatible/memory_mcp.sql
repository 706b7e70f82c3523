-- A database of Memory MCP: a mined memory that is hot and pinned, with a tag and a link to a manual one.
create table memories (id integer primary key, content text, memory_type text, source text, is_hot int, is_pinned int,
    access_count int, trust_score real, created_at text);
create table memory_tags (memory_id int, tag text);
create table memory_relationships (from_memory_id int, to_memory_id int, relation_type text);
insert into memories values (7, 'The API is versioned by path.', 'pattern', 'mined', 1, 1, 13, 0.95, '2026-01-02 10:00:00');
insert into memories values (8, 'Jobs run at night.', 'project', 'manual', 0, 0, 2, 1, '2026-01-01');
insert into memory_tags values (7, 'api');
insert into memory_relationships values (7, 8, 'relates_to');
