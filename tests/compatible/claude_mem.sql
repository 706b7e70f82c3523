-- A database of claude-mem: a session with an observation, a summary and a prompt.
create table sdk_sessions (id integer primary key, content_session_id text, memory_session_id text, project text,
    started_at text, started_at_epoch integer, completed_at text, user_prompt text, status text);
create table observations (id integer primary key, memory_session_id text, project text, type text, title text,
    subtitle text, facts text, narrative text, concepts text, files_read text, files_modified text,
    prompt_number integer, created_at text, created_at_epoch integer);
create table session_summaries (id integer primary key, memory_session_id text, project text, request text,
    learned text, completed text, next_steps text, created_at text, created_at_epoch integer);
create table user_prompts (id integer primary key, content_session_id text, prompt_number integer, prompt_text text,
    created_at text, created_at_epoch integer);
insert into sdk_sessions values (1, 'c-1', 'm-1', 'foo', '2026-01-02T10:00:00Z', 1767348000000, null, 'Fix it', 'completed');
insert into observations values (7, 'm-1', 'foo', 'bugfix', 'Gateway limit raised', 'It was 1 MB', '["The limit is 10 MB"]',
    'Requests over 1 MB were dropped.', '["gotcha"]', '[]', '["gateway.py"]', 3, '2026-01-02T10:05:00Z', 1767348300000);
insert into session_summaries values (1, 'm-1', 'foo', 'Fix the gateway', 'It had a limit', 'Raised it', 'Watch it',
    '2026-01-02T10:10:00Z', 1767348600000);
insert into user_prompts values (1, 'c-1', 3, 'Fix the gateway', '2026-01-02T10:01:00Z', 1767348060000);
