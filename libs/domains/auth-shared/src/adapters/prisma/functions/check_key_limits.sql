-- No limit of a key is above its organization's, and no budget above that of its project or, for a project, of its
-- organization. Where the organization has no limit, its ceiling is the bound. An active key's project belongs to the
-- key's organization and is not archived. The lock makes this hold for concurrent transactions. Revoked keys keep their
-- limits.
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
  if tg_table_name = 'projects' then
    -- Waits for transactions that change keys of the organization, and they for this one.
    perform from organizations where id = checked_id for no key update;
  else
    perform from organizations where id = checked_id for share;
  end if;
  if exists (
    select from organizations o join api_keys k on k.organization_id = o.id
    where o.id = checked_id and k.revoked_at is null and (
      k.requests_per_minute > coalesce(o.requests_per_minute, o.ceiling_requests_per_minute)
      or k.tokens_per_minute > coalesce(o.tokens_per_minute, o.ceiling_tokens_per_minute)
      or k.daily_budget_nano_usd > coalesce(o.daily_budget_nano_usd, o.ceiling_daily_budget_nano_usd)
      or k.weekly_budget_nano_usd > coalesce(o.weekly_budget_nano_usd, o.ceiling_weekly_budget_nano_usd)
      or k.monthly_budget_nano_usd > coalesce(o.monthly_budget_nano_usd, o.ceiling_monthly_budget_nano_usd)
      or k.total_budget_nano_usd > coalesce(o.total_budget_nano_usd, o.ceiling_total_budget_nano_usd)
      or k.concurrency > coalesce(o.concurrency, o.ceiling_concurrency)
    )
  ) then
    raise exception 'a limit of a key is above its organization''s' using errcode = 'check_violation';
  end if;
  if exists (
    select from organizations o join projects p on p.organization_id = o.id
    where o.id = checked_id and (
      p.daily_budget_nano_usd > coalesce(o.daily_budget_nano_usd, o.ceiling_daily_budget_nano_usd)
      or p.weekly_budget_nano_usd > coalesce(o.weekly_budget_nano_usd, o.ceiling_weekly_budget_nano_usd)
      or p.monthly_budget_nano_usd > coalesce(o.monthly_budget_nano_usd, o.ceiling_monthly_budget_nano_usd)
      or p.total_budget_nano_usd > coalesce(o.total_budget_nano_usd, o.ceiling_total_budget_nano_usd)
    )
  ) then
    raise exception 'a budget of a project is above its organization''s' using errcode = 'check_violation';
  end if;
  if exists (
    select from api_keys k join projects p on p.id = k.project_id
    where k.organization_id = checked_id and k.revoked_at is null and (
      p.organization_id <> checked_id
      or p.archived_at is not null
      or k.daily_budget_nano_usd > p.daily_budget_nano_usd
      or k.weekly_budget_nano_usd > p.weekly_budget_nano_usd
      or k.monthly_budget_nano_usd > p.monthly_budget_nano_usd
      or k.total_budget_nano_usd > p.total_budget_nano_usd
    )
  ) then
    raise exception 'a key does not fit its project' using errcode = 'check_violation';
  end if;
  return null;
end $$;

create or replace trigger check_key_limits
after update of
  requests_per_minute, tokens_per_minute, daily_budget_nano_usd, weekly_budget_nano_usd, monthly_budget_nano_usd,
  total_budget_nano_usd, concurrency, ceiling_requests_per_minute, ceiling_tokens_per_minute,
  ceiling_daily_budget_nano_usd, ceiling_weekly_budget_nano_usd, ceiling_monthly_budget_nano_usd,
  ceiling_total_budget_nano_usd, ceiling_concurrency
on organizations for each row execute function check_key_limits();

create or replace trigger check_key_limits
after insert or update of
  organization_id, daily_budget_nano_usd, weekly_budget_nano_usd, monthly_budget_nano_usd, total_budget_nano_usd,
  archived_at
on projects for each row execute function check_key_limits();

create or replace trigger check_key_limits
after insert or update of
  organization_id, requests_per_minute, tokens_per_minute, daily_budget_nano_usd, weekly_budget_nano_usd,
  monthly_budget_nano_usd, total_budget_nano_usd, concurrency, revoked_at, project_id
on api_keys for each row when (new.revoked_at is null) execute function check_key_limits();
