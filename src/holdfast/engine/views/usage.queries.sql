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
select session, recalls, empty, tokens from costs where at >= :at order by at, session

-- strangers
select distinct uses.id from uses left join records on records.id = uses.id where records.id is null

-- sessions_shown
select session from shown where id = :id order by at desc limit :limit

-- withdraw_touch
update touches set touches = touches - 1, last_at = case when last_at = :at then :last_at else last_at end
where id = :id

-- heat
-- Events may arrive in any order: the one with the highest id counts.
insert into heat (id, hot, pinned, at, why, event) values (:id, :hot, :pinned, :at, :why, :event)
on conflict (id) do update set
    hot = excluded.hot, pinned = excluded.pinned, at = excluded.at, why = excluded.why, event = excluded.event
where excluded.event > heat.event

-- hot
select heat.id, pinned, heat.at, heat.why from heat join records on records.id = heat.id
where hot = 1 and state = 'active' and source <> 'starter' and records.number between :low and :high
order by records.number

-- step
insert into steps (source, target, times, last_at)
select last_steps.id, :id, 1, :at from last_steps where session = :session and last_steps.id <> :id
on conflict (source, target) do update set
    times = steps.times + 1,
    last_at = case when excluded.last_at > steps.last_at then excluded.last_at else steps.last_at end

-- touched
select id, touches, last_at from touches where id in (select value from json_each(:ids))

-- trust_changes
select id, event, delta from trusts where id in (select value from json_each(:ids)) order by id, event

-- steps_after
select source, target, times, last_at from steps where source = :id order by times desc, target

-- most_steps
select source, target, times, last_at from steps where times >= :least order by times desc, source, target limit :limit
