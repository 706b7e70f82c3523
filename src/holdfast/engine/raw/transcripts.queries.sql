-- insert_sqlite
insert into chunk_words (rowid, body) values (:rowid, :body)

-- insert_postgres
insert into chunk_words (rowid, lexemes)
values (:rowid, array_to_tsvector(array_remove(string_to_array(:body, ' '), '')))

-- joined
from chunk_words join chunks on chunks.number = chunk_words.rowid
join transcripts on transcripts.session = chunks.session

-- search
select chunks.session, place, chunks.body, bm25(chunk_words) as score {joined}
where chunk_words match :wanted and (:everywhere = 1 or transcripts.project = :project)
order by score limit :limit

-- candidates
select chunks.session, place, chunks.body {joined}
where lexemes @@ cast(:wanted as tsquery) and (:everywhere = 1 or transcripts.project = :project)
order by chunks.number desc limit :limit
