-- Three more verbs only count; and what the store notices about itself is tallied by day.

drop index events_folding;
create index events_folding on events (about, id)
where verb not in ('surfaced', 'used', 'touched', 'trusted', 'heated', 'injected', 'started', 'closed');

create table tallies (
    name text not null,
    day text not null,
    value integer not null,
    primary key (name, day)
);

create table failures (
    number integer primary key,
    name text not null,
    at text not null,
    said text not null
);
insert into counters (name, value) values ('failures', 0);
