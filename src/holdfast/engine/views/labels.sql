create table labels (
    facet text not null,
    value text not null,
    number integer not null,
    primary key (facet, value, number)
);
create index labels_number on labels (number);
