-- What sessions wrote on their way is kept for a while, as raw material that no record depends on, and mined once.

create table outputs (
    number integer primary key,
    project integer not null,
    session text not null,
    at text not null,
    size integer not null,
    body text not null
);
create index outputs_project on outputs (project, number, size);
create index outputs_at on outputs (at);
insert into counters (name, value) values ('outputs', 0);

-- Up to which output each project was mined: a line behind it is never counted again.
create table mining (
    project integer primary key,
    watermark integer not null,
    ran_at text not null
);

-- What was found and nobody decided on yet; its id is that of the record it may become. `told` is how many of its
-- occurrences that record knows of.
create table patterns (
    id text primary key,
    project integer not null,
    key text not null,
    kind text not null,
    body text not null,
    confidence real not null,
    occurrences integer not null,
    told integer not null,
    first_at text not null,
    last_at text not null
);
create index patterns_project on patterns (project, last_at);

-- Each wording counts once a session.
create table sightings (
    pattern text not null,
    session text not null,
    wording text not null,
    primary key (pattern, session, wording)
);
