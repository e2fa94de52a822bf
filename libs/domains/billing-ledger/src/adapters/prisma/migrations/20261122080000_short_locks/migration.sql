-- open_settlements set a bound of its own, of five seconds, on how long a process
-- that stops in mid-transaction keeps its locks. Every connection has one now,
-- and a shorter one; the function is otherwise as it was.
do $$
declare
  definition text := pg_get_functiondef('open_settlements'::regproc);
  own_bound constant text := $line$perform set_config('idle_in_transaction_session_timeout', '5s', true);$line$;
begin
  if strpos(definition, own_bound) = 0 then
    raise exception 'open_settlements is not the function that this migration was written for';
  end if;
  execute replace(definition, own_bound, '');
end
$$;
