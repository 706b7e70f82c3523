-- role
do $$ begin
    if not exists (select 1 from pg_roles where rolname = '{role}') then create role {role} nologin; end if;
    exception when duplicate_object or unique_violation then null;
end $$

-- membership
-- The creator of a role may grant it to itself; a superuser can switch to any role without being a member.
do $$ begin
    if not pg_has_role(current_user, '{member}', 'set') then execute format('grant {member} to %I', current_user); end if;
end $$

-- login
select rolsuper or rolbypassrls or exists (
    select 1 from pg_class where oid = to_regclass('events') and pg_has_role(pg_roles.oid, relowner, 'member')
), current_setting('server_version_num') from pg_roles where rolname = :login

-- owns
select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = to_regclass('events')

-- schema
select '"' || current_schema() || '"'
