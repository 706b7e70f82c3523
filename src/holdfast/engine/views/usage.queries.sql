-- show
insert into shown (session, id, at, times, variant) values (:session, :id, :at, 1, :variant)
on conflict (session, id) do update set
    times = shown.times + 1,
    at = case when excluded.at < shown.at then excluded.at else shown.at end,
    variant = case when shown.variant = '' then excluded.variant else shown.variant end

-- withdrawn
select id, outcome from uses where observed = 0 and event in (select value from json_each(:events))

-- last_used
update usage set last_used_at = coalesce(
    (select max(at) from uses where uses.id = usage.id and outcome in ('applied', 'corrected') and observed = 0), ''
) where id = :id

-- unanswered_scars
select records.doc from shown join records on records.id = shown.id
where shown.session = :session and shown.variant <> '' and records.kind = 'scar' and records.state = 'active'
and not exists (select 1 from uses where uses.session = :session and uses.id = shown.id and observed = 0)
order by shown.at, shown.id

-- costs_since
select session, at, recalls, empty, tokens from costs where at >= :at order by at, session

-- strangers
select distinct uses.id from uses left join records on records.id = uses.id where records.id is null

-- sessions_shown
select session from shown where id = :id order by at desc limit :limit
