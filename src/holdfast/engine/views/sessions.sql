create table sessions (
    id text primary key,
    tail text not null,
    project text not null,
    agent text not null,
    is_open integer not null,
    started_at text not null,
    doc text not null
);
create index sessions_tail on sessions (tail);
create index sessions_project on sessions (project, started_at);
