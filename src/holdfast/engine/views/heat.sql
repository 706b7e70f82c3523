create table heat (
    id text primary key,
    hot integer not null,
    pinned integer not null,
    at text not null,
    why text not null,
    event text not null
);
create index heat_hot on heat (hot) where hot = 1;
create table heat_counts (
    name text primary key,
    value integer not null
);
