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
select heat.id, records.number, pinned, heat.at, heat.why from heat join records on records.id = heat.id
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
select event, id, at, reason, delta from trusts where id in (select value from json_each(:ids)) order by id, event

-- steps_after
select target, times, last_at from steps where source = :id order by times desc, target

-- most_steps
select source, target, times, last_at from steps where times >= :least order by times desc, source, target limit :limit
