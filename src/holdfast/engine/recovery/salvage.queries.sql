-- raise_counter
update counters set value = max(value, :least) where name = :name

-- count_records
update projects set records = max(
    records,
    coalesce((select max(number) from entries where number >> {bits} = projects.number), 0) & ((1 << {bits}) - 1)
)

-- drop_homeless
delete from entries where number >> {bits} not in (select number from projects)
