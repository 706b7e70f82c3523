-- The last result of each session is in `costs`, and `steps` belongs to the view of usage.
drop table if exists last_steps;
delete from views where name = 'steps';
