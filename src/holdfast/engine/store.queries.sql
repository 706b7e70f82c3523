-- versions
(select value from settings where name = 'schema'), (select json_group_array(name || ' ' || version) from views)

-- counted
-- Writers take turns on this counter.
update counters set value = value + :n where name = 'seq'
returning value, (select json_group_array(id) from events where id in (select value from json_each(:ids))),
    (select json_group_array(about) from events
        where about in (select value from json_each(:abouts)) and {folding_only} and verb = 'erased'),
    {versions}

-- scrub
-- Row security lets members of a team server update only these two columns, and only for erased records.
update events set data = :data, checksum = :checksum where seq = :seq and id = :id

-- rewrite
update events set about = :about, name = :name, session = :session, data = :data, checksum = :checksum
where seq = :seq and id = :id and verb = :verb and at = :at and actor = :actor

-- entries
select id, number from entries where id in (select value from json_each(:ids))

-- sizes
select name, number, records from projects where name in (select value from json_each(:names))

-- everywhere
select number from projects where name like :beside order by number

-- projects
select name, records from projects where name not like :beside order by name

-- erased
select about, id from events
where about in (select value from json_each(:abouts)) and {folding_only} and verb = 'erased'

-- folding
select {columns} from events where about in (select value from json_each(:abouts)) and {folding_only} order by about, id

-- misplaced
select id from records
where not ({memories}) and number >> {bits} not in (select number from projects where name like :beside)
