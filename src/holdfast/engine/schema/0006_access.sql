-- Who may use a server of this store, and by which keys; only hashes of keys are kept.

create table users (
    name text primary key,
    created_at text not null
);

-- Projects are names, one a line; `*` is every project. What did not happen yet is empty.
create table keys (
    id text primary key,
    owner text not null,
    hash text not null,
    role text not null,
    projects text not null,
    created_at text not null,
    expires_at text not null,
    used_at text not null,
    revoked_at text not null
);
create index keys_owner on keys (owner);
