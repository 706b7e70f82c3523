create table trusts (
    event text primary key,
    id text not null,
    at text not null,
    reason text not null,
    delta real not null
);
create index trusts_id on trusts (id, event);
