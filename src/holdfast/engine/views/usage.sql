create table usage (
    id text primary key,
    surfaced integer not null,
    injected integer not null,
    applied integer not null,
    acknowledged integer not null,
    refuted integer not null,
    ignored integer not null,
    contradicted integer not null,
    corrected integer not null,
    succeeded integer not null,
    failed integer not null,
    dismissed integer not null,
    last_used_at text not null
);
create table uses (
    event text primary key,
    id text not null,
    session text not null,
    at text not null,
    outcome text not null,
    variant text not null,
    observed integer not null
);
create index uses_id on uses (id, at);
create index uses_session on uses (session);
create index uses_at on uses (at);
create table shown (
    session text not null,
    id text not null,
    at text not null,
    times integer not null,
    variant text not null,
    primary key (session, id)
);
create index shown_at on shown (at);
create table costs (
    session text primary key,
    at text not null,
    recalls integer not null,
    empty integer not null,
    tokens integer not null,
    hits integer not null,
    misses integer not null,
    top text not null
);
create index costs_at on costs (at);
create table steps (
    source text not null,
    target text not null,
    times integer not null,
    last_at text not null,
    primary key (source, target)
);
