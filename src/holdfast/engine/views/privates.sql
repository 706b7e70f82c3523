create table privates (
    number integer primary key,
    owner text not null
);
create index privates_project on privates ((number >> 32));
