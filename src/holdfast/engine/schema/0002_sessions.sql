-- More verbs only count; and what was said in a session can be kept, as raw material that no record depends on.

drop index events_folding;
create index events_folding on events (about, id)
where verb not in ('surfaced', 'used', 'touched', 'started', 'closed');

create table transcripts (
    session text primary key,
    project integer not null,
    format text not null,
    saved_at text not null,
    tokens integer not null,
    body text not null
);

create table chunks (
    number integer primary key,
    session text not null,
    place integer not null,
    body text not null
);
create index chunks_session on chunks (session, place);
insert into counters (name, value) values ('chunks', 0);
