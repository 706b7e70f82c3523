create table links (
    source text not null,
    relation text not null,
    target text not null,
    primary key (source, relation, target)
);
create index links_target on links (target, relation);
