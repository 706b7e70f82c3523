create table records (
    number integer primary key,
    id text not null unique,
    tail text not null,
    kind text not null,
    state text not null,
    waits integer not null,
    cites integer not null,
    title text not null,
    session text not null,
    author text not null,
    created_at text not null,
    updated_at text not null,
    verified_at text not null,
    source text not null,
    fingerprint text not null,
    doc text not null
);
create index records_tail on records (tail);
create index records_fingerprint on records (fingerprint);
create index records_session on records (session, number) where session <> '';
create index records_author on records (author, number) where author <> '';
create index records_created on records (created_at, number);
create index records_kind on records (kind, number);
create index records_pending on records (number) where state = 'pending';
create index records_waits on records (number) where waits = 1;
create index records_cites on records (number) where cites = 1;
