create table vectors (
    number integer not null,
    passage integer not null,
    fingerprint text not null,
    stamp integer not null,
    code blob not null,
    vector blob not null,
    primary key (number, passage)
);
create index vectors_stamp on vectors (stamp);
create table token_vectors (
    number integer not null,
    passage integer not null,
    tokens blob not null,
    primary key (number, passage)
);
create table unembedded (
    number integer primary key
);
-- postgres
-- The index of the primary key includes the sign bits, so that those of a project are read without its rows.
create extension if not exists vector;
create table vectors (
    number integer not null,
    passage integer not null,
    fingerprint text not null,
    stamp integer not null,
    code bit varying not null,
    vector halfvec not null,
    primary key (number, passage) include (code)
);
create table token_vectors (
    number integer not null,
    passage integer not null,
    tokens bytea not null,
    primary key (number, passage)
);
alter table token_vectors alter column tokens set storage external;
create table unembedded (
    number integer primary key
);
