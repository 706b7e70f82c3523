-- Raw activity as hooks told it: capped and expiring, never the truth.

create table trail (
    id text primary key,
    at text not null,
    session text not null,
    event text not null,
    derived integer not null,
    doc text not null
);
create index trail_session on trail (session, id);
create index trail_waiting on trail (session) where derived = 0;
