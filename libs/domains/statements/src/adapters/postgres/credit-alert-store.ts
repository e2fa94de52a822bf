import { insertAuditEntry } from '@gateway/audit';
import { nanoUsd, type UnixMs } from '@gateway/base';
import { inTransaction, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import {
  MAX_ALERT_ATTEMPTS,
  NO_ALERT,
  retryAfterMs,
  type AlertRecipients,
  type CreditAlert,
  type DueAlert,
} from '../../core/credit-alert';
import { DEFAULT_BUDGET_SHARES } from '../../core/budget-alert';
import type { CreditAlertStore } from '../../core/ports';
import { BILLING_LEDGER_SCHEMA, withRetries } from '@gateway/billing-ledger';
import type { WebhookSecrets } from './webhook-secrets';

const READ = 'select * from credit_alerts where organization_id = $1';

/**
 * $1 organization, $2 threshold, $3 URL, $4 encrypted secret for a new URL, $5 emails or null, $6 whether a stored URL is
 * kept, $7 shares or null, $8 whether a stored threshold is kept. Null lists are kept.
 */
const SET = `
  insert into credit_alerts as alert (
    organization_id, threshold_nano_usd, webhook_url, webhook_secret, emails, budget_shares
  )
  values (
    $1, $2, $3, case when $3::text is null then null else $4 end, coalesce($5::text[], '{}'),
    coalesce($7::integer[], '{${DEFAULT_BUDGET_SHARES.join(',')}}')
  )
  on conflict (organization_id) do update set
    threshold_nano_usd = case when $8 then alert.threshold_nano_usd else excluded.threshold_nano_usd end,
    webhook_url = case when $6 then alert.webhook_url else excluded.webhook_url end,
    webhook_secret = case
      when $6 or alert.webhook_url = excluded.webhook_url then alert.webhook_secret
      else excluded.webhook_secret
    end,
    emails = coalesce($5::text[], alert.emails),
    budget_shares = coalesce($7::integer[], alert.budget_shares),
    below_since_unix_ms = null, delivered = false, attempts = 0, next_attempt_unix_ms = 0, last_failure = null
  returning *`;

const WATCH = `
  update credit_alerts alert
  set below_since_unix_ms = case when watched.is_below then now_unix_ms() end,
      delivered = false, attempts = 0, next_attempt_unix_ms = 0
  from (
    select one.organization_id,
           one.threshold_nano_usd is not null
             and coalesce(account.available_nano_usd, 0) < one.threshold_nano_usd as is_below
    from credit_alerts one
    left join accounts account on account.organization_id = one.organization_id
  ) watched
  where alert.organization_id = watched.organization_id
    and (alert.below_since_unix_ms is not null) <> watched.is_below`;

const DUE_FIELDS = `
  alert.organization_id, coalesce(alert.threshold_nano_usd, 0) as threshold_nano_usd, alert.webhook_url,
  alert.webhook_secret, alert.emails, alert.below_since_unix_ms, alert.attempts,
  coalesce((select available_nano_usd from accounts where organization_id = alert.organization_id), 0)
    as available_nano_usd`;

const READ_RECIPIENTS = `
  select organization_id, webhook_url, webhook_secret, emails from credit_alerts
  where organization_id = $1 and (webhook_url is not null or emails <> '{}')`;

/** $1 max attempts, $2 max rows, $3 how long after this a claimed alert is due again if its sender terminates. */
const CLAIM_DUE = `
  update credit_alerts alert
  set attempts = alert.attempts + 1, next_attempt_unix_ms = now_unix_ms() + $3
  from (
    select organization_id from credit_alerts
    where below_since_unix_ms is not null and not delivered and attempts < $1
      and next_attempt_unix_ms <= (select now_unix_ms())
      and (webhook_url is not null or emails <> '{}')
    order by next_attempt_unix_ms
    limit $2
    for update skip locked
  ) due
  where alert.organization_id = due.organization_id
  returning ${DUE_FIELDS}`;

const RECORD_DELIVERED = `
  update credit_alerts set delivered = true, last_sent_unix_ms = now_unix_ms(), last_failure = null
  where organization_id = $1 and below_since_unix_ms is not distinct from $2`;
const RECORD_FAILED = `
  update credit_alerts set last_failure = $2, next_attempt_unix_ms = now_unix_ms() + $3
  where organization_id = $1 and below_since_unix_ms is not distinct from $4`;

/** Longer than a delivery with all its timeouts. */
const DELIVERY_LEASE_MS = 120_000;

interface AlertRow {
  readonly threshold_nano_usd: bigint | null;
  readonly webhook_url: string | null;
  readonly webhook_secret: string | null;
  readonly emails: readonly string[];
  readonly below_since_unix_ms: bigint | null;
  readonly last_sent_unix_ms: bigint | null;
  readonly last_failure: string | null;
  readonly budget_shares: readonly number[];
}

interface RecipientsRow {
  readonly organization_id: string;
  readonly webhook_url: string | null;
  readonly webhook_secret: string | null;
  readonly emails: readonly string[];
}

interface DueRow extends RecipientsRow {
  readonly threshold_nano_usd: bigint;
  readonly available_nano_usd: bigint;
  readonly below_since_unix_ms: bigint;
  readonly attempts: number;
}

/** Alerts in the ledger's database. Several processes may watch and send; each alert is claimed by one of them. */
export function createPostgresCreditAlertStore({
  pool,
  secrets,
}: {
  readonly pool: Pool;
  readonly secrets: WebhookSecrets;
}): CreditAlertStore {
  let areSecretsCurrent = false;

  function recipientsOf(row: RecipientsRow): AlertRecipients {
    return {
      organizationId: row.organization_id,
      webhookUrl: row.webhook_url ?? undefined,
      webhookSecret: secrets.decrypt(row.organization_id, row.webhook_secret),
      emails: row.emails,
    };
  }

  function dueOf(row: DueRow): ClaimedAlert {
    return {
      ...recipientsOf(row),
      thresholdNanoUsd: nanoUsd(row.threshold_nano_usd),
      availableNanoUsd: nanoUsd(row.available_nano_usd),
      belowSince: Number(row.below_since_unix_ms) as UnixMs,
      attempt: row.attempts,
    };
  }

  return {
    storesWebhooks: secrets.available,

    readAlert: (organizationId) =>
      withRetries(async () => {
        const { rows } = await pool.query<AlertRow>(READ, [organizationId]);
        return rows[0] ? alertOf(rows[0]) : NO_ALERT;
      }),

    setAlert: (organizationId, changes, newSecret, audit) =>
      withRetries(() =>
        inTransaction(pool, async (client) => {
          const { thresholdNanoUsd: threshold, webhookUrl, emails, budgetShares } = changes;
          const encrypted = webhookUrl ? secrets.encrypt(organizationId, newSecret) : null;
          const { rows } = await client.query<AlertRow>(SET, [
            organizationId,
            threshold ?? null,
            webhookUrl ?? null,
            encrypted,
            emails ? textArray(emails, (email) => email) : null,
            webhookUrl === undefined,
            budgetShares ?? null,
            threshold === undefined,
          ]);
          const [row] = rows;
          if (!row) throw new Error('setting a credit alert returned no row');
          await insertAuditEntry(client, BILLING_LEDGER_SCHEMA, audit);
          const isNew = encrypted !== null && row.webhook_secret === encrypted;
          return { alert: alertOf(row), secret: isNew ? newSecret : undefined };
        }),
      ),

    recordTest: (audit) => withRetries(() => insertAuditEntry(pool, BILLING_LEDGER_SCHEMA, audit)),

    readRecipients: (organizationId) =>
      withRetries(async () => {
        const { rows } = await pool.query<RecipientsRow>(READ_RECIPIENTS, [organizationId]);
        return rows[0] && recipientsOf(rows[0]);
      }),

    watch: () =>
      withRetries(async () => {
        if (!areSecretsCurrent) await secrets.reencrypt();
        areSecretsCurrent = true;
        await pool.query(WATCH);
      }),

    claimDue: (limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<DueRow>(CLAIM_DUE, [MAX_ALERT_ATTEMPTS, limit, DELIVERY_LEASE_MS]);
        return rows.map(dueOf);
      }),

    recordDelivery: (alert, failure) =>
      withRetries(async () => {
        const { organizationId, belowSince, attempt } = alert as ClaimedAlert;
        if (failure === undefined) await pool.query(RECORD_DELIVERED, [organizationId, belowSince]);
        else await pool.query(RECORD_FAILED, [organizationId, failure, retryAfterMs(attempt), belowSince]);
      }),
  };
}

type ClaimedAlert = DueAlert & { readonly attempt: number };

function alertOf(row: AlertRow): CreditAlert {
  return {
    thresholdNanoUsd: row.threshold_nano_usd === null ? undefined : nanoUsd(row.threshold_nano_usd),
    webhookUrl: row.webhook_url ?? undefined,
    emails: row.emails,
    belowSince: timeOf(row.below_since_unix_ms),
    lastSent: timeOf(row.last_sent_unix_ms),
    lastFailure: row.last_failure ?? undefined,
    budgetShares: row.budget_shares,
  };
}

function timeOf(unixMs: bigint | null): UnixMs | undefined {
  return unixMs === null ? undefined : (Number(unixMs) as UnixMs);
}
