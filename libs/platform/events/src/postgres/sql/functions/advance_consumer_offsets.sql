-- Stores how far a group has read, in the transaction that stores the effects. The
-- consumer names the offset that it knows to be stored. A lower one means that the
-- database has lost the effects of later events, such as in a failover to an
-- asynchronous standby: nothing is stored then, and the function raises GW003.
create or replace function advance_consumer_offsets(
  p_topic text,
  p_group text,
  p_partitions integer[],
  p_known_offsets bigint[],
  p_next_offsets bigint[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  advanced_count integer;
begin
  update event_log.consumer_offsets stored
  set next_offset = greatest(stored.next_offset, advanced.next_offset)
  from unnest(p_partitions, p_known_offsets, p_next_offsets) as advanced (partition, known_offset, next_offset)
  where stored.topic = p_topic
    and stored.group_name = p_group
    and stored.partition = advanced.partition
    and stored.next_offset >= advanced.known_offset;
  get diagnostics advanced_count = row_count;

  if advanced_count <> cardinality(p_partitions) then
    raise exception using
      errcode = 'GW003',
      message = format(
        'the stored offsets of %s of %s partitions are lower than the consumer has stored',
        cardinality(p_partitions) - advanced_count, cardinality(p_partitions)
      );
  end if;
end
$$;
