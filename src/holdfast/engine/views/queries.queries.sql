-- ids
(select value from json_each(:ids))

-- ranking
select 'usage' as part, id, last_used_at as value, '' as event, 0.0 as delta, {columns} from usage where id in {ids}
union all
select 'trust', id, '', event, delta, {none} from trusts where id in {ids}
union all
select 'outcome', id, outcome, event, 0.0, {none} from uses
where at >= :since and outcome not in ('succeeded', 'failed') and id in (select value from json_each(:scars))
union all
select verb, about, data, id, 0.0, {none} from events
where about in (select value from json_each(:shared)) and {folding_only} and verb in ('arrived', 'accepted', 'rejected')
union all
select 'replaced', links.target, '', '', 0.0, {none} from links join records on records.id = links.source
where relation = 'supersedes' and records.state = 'active' and links.target in {ids}
union all
select 'contradicted', links.target, links.source, records.created_at, 0.0, {none}
from links join records on records.id = links.source
where relation = 'contradicts' and records.state = 'active' and links.target in {ids}
union all
select 'hot', heat.id, '', '', 0.0, {none} from heat join records on records.id = heat.id
where hot = 1 and state = 'active' and heat.id in {ids}

-- here
-- Kinds that describe one moment are not expected to be used again. Starters come with every store.
records.state = 'active' and records.number between :low and :high and records.source <> 'starter'
and records.kind not in ('observation', 'summary', 'progress', 'thread', 'review', 'retrospective') and {memories}

-- all
from records left join usage on usage.id = records.id where {here}

-- used
-- Few records have any usage: read these, and look up the record of each.
from usage cross join records where records.id = usage.id and {here}

-- records
from records where {here}

-- cold
-- created before an instant, never returned, injected nor applied
created_at < :before and coalesce(surfaced + injected + applied, 0) = 0

-- dead
-- created before an instant, returned or injected, but never applied nor corrected
-- what a rule sees counts unless it was declared ignored
created_at < :before and surfaced + injected > 0 and applied + corrected = 0
and (ignored > 0 or not exists (select 1 from uses where uses.id = records.id and outcome = 'applied'))

-- contradicted
-- with a contradicted use after their last revision and verification
contradicted > 0 and exists (
    select 1 from uses where uses.id = records.id and outcome = 'contradicted'
    and uses.at >= updated_at and uses.at > verified_at
)

-- unverified
-- never verified, and not revised since an instant
verified_at = '' and updated_at < :before

-- stale
-- verified once, but neither verified nor revised since an instant
verified_at <> '' and verified_at < :before and updated_at < :before

-- tally
select count(*), sum(case when created_at < :before then 1 else 0 end),
    sum(case when {unverified} then 1 else 0 end), sum(case when {stale} then 1 else 0 end)
{records}

-- tally_of_used
select sum(case when created_at < :before and surfaced + injected + applied > 0 then 1 else 0 end),
    sum(case when {dead} then 1 else 0 end), sum(case when {contradicted} then 1 else 0 end)
{used}

-- heavy
select records.id, applied {used} and applied >= :least order by applied desc, records.id limit :limit

-- by_foreign_id
select number, doc from records
where state <> 'erased' and (
    lower(doc) like :keyed escape '!' or lower(doc) like :named escape '!'
    or lower(doc) like :called escape '!' or lower(doc) like :numbered escape '!'
)
order by number limit :most
