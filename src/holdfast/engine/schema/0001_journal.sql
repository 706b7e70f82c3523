-- The journal and what is local to this store. Steps are never edited; a change is a new step.

create table events (
    seq integer primary key,
    id text not null unique,
    about text not null,
    verb text not null,
    at text not null,
    actor text not null,
    name text not null,
    session text not null,
    data text not null
);

-- Folding reads only what changes a record, so a thousand uses cost nothing.
create index events_folding on events (about, id) where verb not in ('surfaced', 'used');

create index events_session on events (session, seq);

-- Counters that writers take turns on; a cursor over seq can therefore never skip an event.
create table counters (
    name text primary key,
    value integer not null
);

insert into counters (name, value) values ('seq', 0), ('projects', 0), ('stamp', 0);

-- Number 0 is the project of global records.
create table projects (
    number integer primary key,
    name text not null unique,
    records integer not null
);

insert into projects (number, name, records) values (0, '', 0);

-- A record's local number: project in the high bits, so a project's rows lie together in every table.
create table entries (
    number integer primary key,
    id text not null unique
);

create table settings (
    name text primary key,
    value text not null
);

create table views (
    name text primary key,
    version integer not null
);
