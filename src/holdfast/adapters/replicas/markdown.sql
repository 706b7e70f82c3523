-- The content of a folder of markdown files when it was last read or written.
create table if not exists notes (name text primary key, value text not null);
create table if not exists files (
    path text primary key, id text not null, mtime integer not null, ctime integer not null, size integer not null,
    said text not null
);
create index if not exists files_id on files (id);
