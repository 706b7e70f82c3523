-- stamp
select -1 as place, value as number, null as code from counters where name = 'stamp'

-- since
-- A replaced vector leaves its old code in the cache; the exact comparison reads the current vectors.
select {place}, number, code from vectors
where {by_number}stamp > :stamp{place} and {by_stamp}number between :low{place} and :high{place}

-- records
select coalesce(sum(records), 0) from projects where number between :first and :last

-- cosines
-- The operator `<#>` returns the negative inner product.
select number, max(-(vector <#> :vector)) from vectors
where number in (select cast(value as bigint) from json_each(:numbers)) group by number

-- among
{cosines} order by 2 desc limit :most

-- by_code
with looked_at as materialized (
    select number, passage from vectors where number between :low and :high order by code <~> :code limit :looked_at
)
select vectors.number, max(-(vector <#> :vector))
from looked_at join vectors on vectors.number = looked_at.number and vectors.passage = looked_at.passage
group by vectors.number

-- by_graph
-- The graph returns neighbours in approximate order, so more are read than needed.
-- The bounds are part of the SQL text, not parameters: a plan made without them would read every vector.
with followed as materialized (
    select number, -(vector::halfvec({size}) <#> :vector) as cosine from vectors where number between {low} and {high}
    order by vector::halfvec({size}) <#> :vector limit {followed}
)
select number, max(cosine) from followed group by number
