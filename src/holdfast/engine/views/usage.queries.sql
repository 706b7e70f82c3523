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
select session, recalls, empty, tokens from costs where at >= :at and recalls > 0 order by at, session

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

-- heat_counts
select name, value from heat_counts
union all
select 'hits', coalesce(sum(hits), 0) from costs
union all
select 'misses', coalesce(sum(misses), 0) from costs

-- step
insert into steps (source, target, times, last_at)
select costs.top, :top, 1, :at from costs where session = :session and costs.top not in ('', :top)
on conflict (source, target) do update set
    times = steps.times + 1,
    last_at = case when excluded.last_at > steps.last_at then excluded.last_at else steps.last_at end

-- cost
insert into costs (session, at, recalls, empty, tokens, hits, misses, top)
values (:session, :at, :recalls, :empty, :tokens, :hits, :misses, :top)
on conflict (session) do update set
    at = case when excluded.recalls > 0 and excluded.at > costs.at then excluded.at else costs.at end,
    recalls = costs.recalls + excluded.recalls, empty = costs.empty + excluded.empty,
    tokens = costs.tokens + excluded.tokens, hits = costs.hits + excluded.hits, misses = costs.misses + excluded.misses,
    top = case when excluded.top = '' then costs.top else excluded.top end

-- touched
select id, touches, last_at from touches where id in (select value from json_each(:ids))

-- trust_changes
select id, event, delta from trusts where id in (select value from json_each(:ids)) order by id, event

-- steps_after
select source, target, times, last_at from steps where source = :id order by times desc, target

-- most_steps
select source, target, times, last_at from steps where times >= :least order by times desc, source, target limit :limit
