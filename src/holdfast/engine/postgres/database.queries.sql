-- introduce
select set_config('holdfast.user', %s, false), set_config('holdfast.role', %s, false),
    set_config('holdfast.projects', %s, false)

-- home
select cast(oid as bigint), nspname from pg_namespace where nspname = current_schema()

-- size
select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
where relkind = 'r' and relnamespace = cast(current_schema() as regnamespace)

-- version
select 'PostgreSQL ' || current_setting('server_version') || ', pgvector ' || extversion from pg_extension
where extname = 'vector'

-- has_table
select 1 from pg_tables where schemaname = current_schema() and tablename = :name

-- settings
set timezone = 'UTC'; set lock_timeout = '30s'; set jit = off;
set hnsw.iterative_scan = 'relaxed_order'; set hnsw.ef_search = 1000; set hnsw.max_scan_tuples = 60000
