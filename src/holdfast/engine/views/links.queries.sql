-- others
select links.source, doc, links.source, relation, target from links left join records on records.id = target
where links.source in (select value from json_each(:ids))
union all
select target, doc, links.source, relation, target from links left join records on records.id = links.source
where target in (select value from json_each(:ids)) and links.source <> target

-- pairs
select links.source, links.target from links
join records as one on one.id = links.source join records as other on other.id = links.target
where relation = :relation and one.state = 'active' and other.state = 'active' and one.number between :low and :high
order by links.source, links.target

-- of_project
select links.source, relation, target from links join records on records.id = links.source
where state = 'active' and number between :low and :high order by number desc, relation, target limit :limit

-- counts
select relation, count(*) from links join records on records.id = links.source
where state = 'active' and number between :low and :high group by relation order by relation

-- linked
select count(*) from records where state = 'active' and number between :low and :high
and (id in (select source from links) or id in (select target from links))

-- superseded
select links.target, max(links.source) from links join records on records.id = links.source
where relation = 'supersedes' and records.state = 'active' and links.target in (select value from json_each(:ids))
group by links.target

-- around
select source, relation, target from links where source = :id or target = :id order by source, relation, target

-- leaving
select source, relation, target from links where source in (select value from json_each(:ids))
