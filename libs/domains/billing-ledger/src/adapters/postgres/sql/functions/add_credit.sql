-- Adds prepaid credit once and returns 'added'. For a credit id that exists it
-- returns 'repeated' if the organization and amount are the same, otherwise
-- 'conflict'.
create or replace function add_credit(
  p_credit_id text, p_organization_id text, p_amount bigint, p_note text
) returns text
language plpgsql
as $$
declare
  known credits;
  now_ms bigint;
begin
  perform lock_accounts(array[p_organization_id]);
  now_ms := now_unix_ms();

  insert into credits (credit_id, organization_id, amount_nano_usd, note, added_unix_ms)
  values (p_credit_id, p_organization_id, p_amount, p_note, now_ms)
  on conflict do nothing;
  if not found then
    select * into known from credits where credit_id = p_credit_id;
    if known.organization_id = p_organization_id and known.amount_nano_usd = p_amount then
      return 'repeated';
    end if;
    return 'conflict';
  end if;

  insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, funding_nano_usd)
  values (p_credit_id, 'credit', p_organization_id, now_ms, p_amount, -p_amount);

  update accounts
  set
    credited_nano_usd = credited_nano_usd + p_amount,
    available_nano_usd = available_nano_usd + p_amount
  where organization_id = p_organization_id;
  return 'added';
end
$$;
