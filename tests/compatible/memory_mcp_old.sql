-- A database of Memory MCP with one memory that was hot a year ago.
create table memories (id integer primary key, content text, memory_type text, source text, is_hot int, is_pinned int,
    access_count int, trust_score real, created_at text, last_accessed_at text);
insert into memories values (7, 'The API is versioned by path.', 'pattern', 'manual', 1, 0, 13, 0.95, '2025-01-02 10:00:00',
    '2025-01-02 10:00:00');
