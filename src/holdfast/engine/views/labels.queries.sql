-- counts
select value, count(*) from labels join records on records.number = labels.number
where facet = :facet and labels.number between :low and :high and state = 'active' and {memories}
group by value order by count(*) desc, value

-- scopes_under
with recursive found (value) as (
    select min(value) from labels where facet = 'scope' and value >= :low and value < :high
    union all
    select (select min(value) from labels where facet = 'scope' and value > found.value and value < :high)
    from found where found.value is not null
)
select value from found where value is not null

-- numbers
select number from labels where facet = :facet and value = :value and number between :low and :high
order by number desc limit :limit

-- readable_after
select events.seq, events.id from events join entries on entries.id = events.about
where events.seq > :after and entries.number >> 32 in (
    select number from projects where name in (select value from json_each(:homes))
)
and entries.number not in (select number from privates where owner <> :own)
order by events.seq limit :page
