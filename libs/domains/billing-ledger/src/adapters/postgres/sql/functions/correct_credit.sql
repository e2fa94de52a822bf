-- Deducts credit once. Returns 'corrected', or 'repeated' if it was applied before;
-- 'unknown' without an unexpired preview; 'different' if the preview has another
-- amount or note; 'insufficient' if the available balance would fall below zero.
create or replace function correct_credit(
  p_correction_id text, p_organization_id text, p_amount bigint, p_note text
) returns text
language plpgsql
as $$
declare
  known previewed_corrections;
  now_ms bigint;
begin
  perform lock_accounts(array[p_organization_id]);
  now_ms := now_unix_ms();

  select * into known from previewed_corrections
  where correction_id = p_correction_id collate "C" and organization_id = p_organization_id collate "C";
  if not found then
    return 'unknown';
  end if;
  if known.amount_nano_usd <> p_amount or known.note <> p_note then
    return 'different';
  end if;
  if exists (select from credits where credit_id = p_correction_id collate "C") then
    return 'repeated';
  end if;
  if known.expires_unix_ms < now_ms then
    return 'unknown';
  end if;
  if not exists (
    select from accounts
    where organization_id = p_organization_id collate "C" and available_nano_usd >= p_amount
  ) then
    return 'insufficient';
  end if;

  insert into credits (credit_id, organization_id, amount_nano_usd, note, added_unix_ms)
  values (p_correction_id, p_organization_id, -p_amount, p_note, now_ms);
  insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, funding_nano_usd)
  values (p_correction_id, 'credit', p_organization_id, now_ms, -p_amount, p_amount);
  update accounts
  set
    credited_nano_usd = credited_nano_usd - p_amount,
    available_nano_usd = available_nano_usd - p_amount
  where organization_id = p_organization_id collate "C";
  return 'corrected';
end
$$;
