-- No limit of a key is above its organization's. Where the organization has no limit, its ceiling is the bound. The
-- share lock makes this hold for concurrent transactions. Revoked keys keep their limits.
create or replace function check_key_limits() returns trigger
language plpgsql set search_path from current as $$
declare
  checked_id text;
begin
  if tg_table_name = 'organizations' then
    checked_id := new.id;
  else
    checked_id := new.organization_id;
  end if;
  perform from organizations where id = checked_id for share;
  if exists (
    select from organizations o join api_keys k on k.organization_id = o.id
    where o.id = checked_id and k.revoked_at is null and (
      k.requests_per_minute > coalesce(o.requests_per_minute, o.ceiling_requests_per_minute)
      or k.tokens_per_minute > coalesce(o.tokens_per_minute, o.ceiling_tokens_per_minute)
      or k.daily_budget_nano_usd > coalesce(o.daily_budget_nano_usd, o.ceiling_daily_budget_nano_usd)
      or k.monthly_budget_nano_usd > coalesce(o.monthly_budget_nano_usd, o.ceiling_monthly_budget_nano_usd)
      or k.total_budget_nano_usd > coalesce(o.total_budget_nano_usd, o.ceiling_total_budget_nano_usd)
      or k.concurrency > coalesce(o.concurrency, o.ceiling_concurrency)
    )
  ) then
    raise exception 'a limit of a key is above its organization''s' using errcode = 'check_violation';
  end if;
  return null;
end $$;

create or replace trigger check_key_limits
after update of
  requests_per_minute, tokens_per_minute, daily_budget_nano_usd, monthly_budget_nano_usd, total_budget_nano_usd,
  concurrency, ceiling_requests_per_minute, ceiling_tokens_per_minute, ceiling_daily_budget_nano_usd,
  ceiling_monthly_budget_nano_usd, ceiling_total_budget_nano_usd, ceiling_concurrency
on organizations for each row execute function check_key_limits();

create or replace trigger check_key_limits
after insert or update of
  organization_id, requests_per_minute, tokens_per_minute, daily_budget_nano_usd, monthly_budget_nano_usd,
  total_budget_nano_usd, concurrency, revoked_at
on api_keys for each row when (new.revoked_at is null) execute function check_key_limits();
