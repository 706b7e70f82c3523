-- forget_tokens
delete from token_vectors where number = :number and not exists (select 1 from vectors where number = :number)

-- queue
insert into unembedded (number)
select n from (select cast(:number as bigint) as n) as wanted
where not exists (select 1 from vectors where vectors.number = n)
on conflict do nothing

-- queue_all
insert into unembedded (number) select number from records where state <> 'erased' on conflict do nothing

-- by_ids
select entries.id, vectors.vector from entries join vectors on vectors.number = entries.number and vectors.passage = 0
where entries.id in (select value from json_each(:ids))

-- has_graph
select 1 where to_regclass('vectors_graph') is not null

-- graph
-- The graph (HNSW index) needs the vector size of the embedder, so it is created with the first vector. Creating it
-- over existing vectors takes minutes if it does not fit into memory.
set local maintenance_work_mem = '2GB';
create index if not exists vectors_graph on vectors using hnsw ((vector::halfvec({size})) halfvec_ip_ops)
with (m = 24, ef_construction = 128);

-- waiting
select number from unembedded where number between :low and :high order by number desc limit :limit

-- unfound
select number from unembedded
where number between :low and :high and not exists (select 1 from vectors where vectors.number = unembedded.number)
order by number desc limit :limit
