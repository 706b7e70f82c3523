-- watermark
coalesce((select watermark from mining where project = :project), 0)

-- next_unmined
select number, project, session, at, body from outputs
where project = :project and number > {watermark} order by number limit 1

-- sight
insert into sightings (pattern, session, wording) values (:pattern, :session, :wording) on conflict do nothing

-- see
insert into patterns (id, project, key, kind, body, confidence, occurrences, told, first_at, last_at)
values (:id, :project, :key, :kind, :body, :confidence, 1, 0, :at, :at)
on conflict (id) do update set
    occurrences = patterns.occurrences + 1,
    last_at = case when excluded.last_at > patterns.last_at then excluded.last_at else patterns.last_at end,
    kind = case when excluded.confidence > patterns.confidence then excluded.kind else patterns.kind end,
    body = case when excluded.confidence > patterns.confidence then excluded.body else patterns.body end,
    confidence = case when excluded.confidence > patterns.confidence then excluded.confidence else patterns.confidence end

-- due
select id, key, kind, body, confidence, occurrences, first_at, last_at,
    (select count(distinct session) from sightings where pattern = patterns.id) as sessions
from patterns
where project = :project and occurrences > told and (confidence >= :confidence or occurrences >= :occurrences)
order by first_at, id

-- output_counts
select count(*) as outputs, coalesce(sum(size), 0) as characters, coalesce(min(at), '') as oldest_at,
    coalesce(sum(case when number > {watermark} then 1 else 0 end), 0) as unmined,
    (select count(*) from patterns where project = :project) as patterns,
    coalesce((select ran_at from mining where project = :project), '') as ran_at
from outputs where project = :project

-- drop
delete from outputs where project = :project and (:session = '' or session = :session)

-- advance
update mining set watermark = :number, ran_at = :at where project = :project and watermark < :number

-- counted
select count(*) from outputs where project = :project and at >= :since and (:session = '' or session = :session)

-- beyond
delete from outputs where number <= (
    select max(number) from (
        select number, sum(size) over newer as kept, row_number() over newer as place from outputs
        window newer as (order by number desc)
    ) as counted where kept > :characters or place > :outputs
)
