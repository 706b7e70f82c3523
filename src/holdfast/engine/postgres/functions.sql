create or replace function holdfast_user() returns text stable language sql
as $$ select coalesce(current_setting('holdfast.user', true), '') $$;
create or replace function holdfast_role() returns text stable language sql
as $$ select coalesce(current_setting('holdfast.role', true), '') $$;
create or replace function holdfast_projects() returns text[] stable language sql
as $$ select string_to_array(current_setting('holdfast.projects', true), E'\n') $$;
create or replace function holdfast_everywhere() returns boolean stable language sql
as $$ select holdfast_user() <> '' and coalesce('*' = any (holdfast_projects()), false) $$;
create or replace function holdfast_unknown(told text) returns boolean stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select not exists (select 1 from entries where id = told) and not exists (select 1 from sessions where id = told) $$;
create or replace function holdfast_erased(told text) returns boolean stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select exists (select 1 from events where about = told and verb = 'erased') $$;
create or replace function holdfast_authors() returns setof text stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select author from ({authors}) as everybody where holdfast_user() <> '' $$;
create or replace function holdfast_found(wanted tsquery) returns setof bigint stable security definer language sql
set search_path to {schema}, pg_temp
as $$ select rowid from words where lexemes @@ wanted and abs(rowid) >> 32 in (
    select number from projects where {projects}
) and not exists (select 1 from privates where number = abs(words.rowid) and owner <> holdfast_user()) $$;
