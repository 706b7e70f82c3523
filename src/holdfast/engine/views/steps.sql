create table steps (
    source text not null,
    target text not null,
    times integer not null,
    last_at text not null,
    primary key (source, target)
);
create table last_steps (
    session text primary key,
    id text not null
);
