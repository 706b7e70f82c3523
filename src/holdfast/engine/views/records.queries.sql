-- authors
with recursive found (author) as (
    select min(author) from records where author <> ''
    union all
    select (select min(author) from records where author <> '' and author > found.author)
    from found where found.author is not null
)
select author from found where author is not null

-- written_in
select number from records
where created_at >= :since and created_at < :until and number between :low and :high and state = 'active'
order by created_at desc limit :most

-- beside
from records as other where other.session = one.session and other.session <> ''

-- places
select number, session, author, created_at, body,
    (select json_group_array(found.number) from (
        select other.number {beside} and other.number < one.number order by other.number desc limit :reach
    ) as found),
    (select json_group_array(found.number) from (
        select other.number {beside} and other.number > one.number order by other.number limit :reach
    ) as found)
from records as one join words on words.rowid = one.number
where number in (select cast(value as bigint) from json_each(:numbers))

-- kinds_since
select kind, count(*) from records where number between :low and :high and created_at >= :since and state = 'active'
and (:all = 1 or session in (select value from json_each(:sessions))) group by kind order by count(*) desc, kind

-- changes
select verb, records.id, kind, at, coalesce(nullif(name, ''), actor) as who
from events join records on records.id = about
where verb in (select value from json_each(:verbs)) and at >= :start and at < :stop

-- wrote
select 1 from records where author = :author and author <> '' and number between :low and :high limit 1

-- conversations
select session from records where session in (select value from json_each(:sessions)) and author <> ''
group by session having count(distinct author) > 1

-- starters
select id from records where source = 'starter' and number <= :most

-- last_made
select created_at from records where number between :low and :high order by number desc limit 1

-- kinds_of
-- The plus sign keeps the database from scanning the rows by number.
select kind, count(*) from records where +number between :low and :high group by kind order by count(*) desc, kind

-- newest
kind = :kind and number between :low and :high and state = :state

-- own
and not exists (select 1 from events where about = records.id and {folding_only} and verb = 'arrived')

-- counted_in_sessions
select session, count(*) from records
where session in (select value from json_each(:sessions)) and session <> '' and state <> 'erased' and {memories}
group by session

-- tagged
select number from labels where facet = 'tag' and value

-- scoped
select number from labels where facet = 'scope'
and (value = :{place} or (value >= :{place}_from and value < :{place}_to))

-- by_newest
order by created_at desc, number desc

-- by_oldest
order by created_at, number

-- by_changed
order by updated_at desc, number desc

-- by_applied
order by coalesce(applied, 0) desc, number desc

-- by_shown
order by coalesce(surfaced + injected, 0) desc, number desc

-- by_title
order by title, number

-- by_stored
order by number desc
