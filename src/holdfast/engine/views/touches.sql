create table touches (
    id text primary key,
    touches integer not null,
    last_at text not null
);
