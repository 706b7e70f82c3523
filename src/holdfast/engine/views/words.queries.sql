-- insert_sqlite
insert into words (rowid, body) values (:rowid, :body)

-- insert_postgres
insert into words (rowid, body, lexemes)
values (:rowid, :body, array_to_tsvector(string_to_array(:lexemes, ' ')))

-- index
-- With `fastupdate` every search would have to read the list of pending entries.
set local maintenance_work_mem = '1GB';
create index words_lexemes on words using gin (lexemes) with (fastupdate = off);

-- counts
select count(*) from {words} where {where}

-- holders
select json_group_array(rowid - :low) from {words} where {where}

-- newest_holders
select json_group_array(number) from (
    select rowid as number from {words} where {where} order by {rowid} desc limit :most
) as found

-- bodies
select rowid, body from words where rowid in (select cast(value as bigint) from json_each(:numbers))

-- newest
select rowid, body from words where rowid between :low and :high order by rowid desc limit :most

-- projects
select number, records from projects where number between :first and :last and records > 0 order by number
