import { z } from 'zod';
import { created, endpoint, json, stream } from '../endpoint';
import { day, emptyBody, id, page, pageQuery, positiveUsd, time, usd } from '../fields';

const balance = z
  .object({
    total_credits_usd: usd,
    total_usage_usd: usd,
    balance_usd: usd.meta({ description: 'Credits minus usage.' }),
    reserved_usd: usd.meta({ description: 'Held for requests in progress.' }),
    available_usd: usd.meta({ description: 'Balance minus reserved.' }),
  })
  .meta({ id: 'Balance' });

const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable characters' });

const lowBalance = z.object({ threshold_usd: usd, since: time }).meta({
  id: 'LowBalance',
  description: 'Set while the available amount is below the alert threshold.',
});

const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'must be a month such as 2026-11' })
  .meta({ description: 'YYYY-MM, UTC.', examples: ['2026-11'] });

const monthSums = {
  opening_balance_usd: usd,
  added_usd: usd.meta({ description: 'Credit added.' }),
  corrected_usd: usd.meta({ description: 'Corrections; zero or negative.' }),
  used_usd: usd.meta({ description: 'Charged for generations; zero or negative.' }),
  closing_balance_usd: usd.meta({
    description: 'Opening + added + corrected + used, exact to the nano-dollar.',
  }),
};

const statementMonth = z
  .object({ month, ...monthSums })
  .meta({ id: 'StatementMonth', description: 'Entries posted in a UTC month; the current month so far.' });

export const statementLine = z
  .object({
    posted_at: time,
    kind: z.enum(['credit', 'correction', 'settlement']),
    reference: id.meta({ description: 'The id of the credit, the correction or the generation.' }),
    amount_usd: usd.meta({ description: 'The change of the balance.' }),
    balance_usd: usd.meta({ description: 'The balance after this line.' }),
    note: z.string().nullable().meta({ description: 'Who added or removed credit, and why.' }),
  })
  .meta({ id: 'StatementLine' });

const statementDay = z
  .object({
    day,
    added_usd: monthSums.added_usd,
    corrected_usd: monthSums.corrected_usd,
    used_usd: monthSums.used_usd,
    closing_balance_usd: usd.meta({ description: 'The balance at the end of the day.' }),
  })
  .meta({ id: 'StatementDay' });

const statementCredit = statementLine
  .omit({ balance_usd: true })
  .extend({ kind: z.enum(['credit', 'correction']), note: z.string() })
  .meta({ id: 'StatementCredit' });

const webhook = z.string().max(2_000);
const email = z.string().max(320);

const budgetAlert = z
  .object({
    id: z.string(),
    scope: z.enum(['organization', 'project', 'key', 'end_user']),
    owner_id: id.meta({ description: 'The organization, the project or the key; the key of end users.' }),
    owner_name: z.string(),
    period: z.enum(['day', 'week', 'month', 'total', 'window']),
    hours: z.int().nullable().meta({ description: 'The length of a rolling window.' }),
    model: z.string().nullable().meta({ description: 'The models that count; null: all.' }),
    period_start: z.string().nullable().meta({
      description: 'The UTC day, Monday of the week, month, or hour of a window; null for the total.',
    }),
    share_percent: z.int(),
    budget_usd: usd,
    spent_usd: usd.meta({ description: 'Charged when the share was reached; of end users the highest.' }),
    reached_at: time,
    end_users: z
      .int()
      .nullable()
      .meta({ description: 'How many end users have reached the share; null for other scopes.' }),
    delivered: z.int().meta({ description: 'The recipients that got it.' }),
    undelivered: z.int().meta({ description: 'The recipients whose delivery failed or is retried.' }),
  })
  .meta({ id: 'BudgetAlert' });

const creditAlert = z
  .object({
    threshold_usd: usd.nullable().meta({ description: 'Null: alerts are off.' }),
    webhook_origin: z.string().nullable().meta({
      description: 'Scheme and host of the webhook URL. Its path may be a secret, so it is not readable.',
    }),
    emails: z.array(z.string()),
    budget_shares: z
      .array(z.int())
      .meta({ description: 'Shares of budgets, in percent, that are reported when spending reaches them.' }),
    last_sent_at: time.nullable(),
    last_failure: z.string().nullable().meta({
      description: 'Why the last alert was not delivered; null if it was delivered or none was sent.',
    }),
  })
  .meta({ id: 'CreditAlert' });

const correctionBody = {
  amount_usd: positiveUsd.meta({ description: 'The amount to remove from the balance.' }),
  reason: z.string().trim().min(1).max(200),
};

/** The first request after a month ends may sum up that month. */
export const STATEMENT_TIMEOUT_MS = 25_000;
/** A test waits for its deliveries. */
const DELIVERY_TIMEOUT_MS = 25_000;

export const creditEndpoints = {
  balance: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/balance',
    owner: 'billing-ledger',
    access: 'credit:read',
    summary: 'Get the balance of an organization',
    response: json(z.object({ balance, low_balance: lowBalance.nullable() })),
  }),
  live: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/live',
    access: 'credit:read',
    summary: 'Get the live figures, for polling every second',
    response: json(
      z.object({
        balance,
        low_balance: lowBalance.nullable(),
        spend_today_usd: usd.meta({ description: 'Charged for generations admitted today, UTC.' }),
        requests_today: z.int().min(0),
        latest_generation_id: id
          .nullable()
          .meta({ description: 'The most recently admitted settled generation; lists change when it does.' }),
      }),
    ),
  }),
  add: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/credits',
    owner: 'billing-ledger',
    access: 'platform:credit',
    summary: 'Add credit',
    description:
      'Requests with the same Idempotency-Key add the credit once. With a different amount the response is 409 `conflict`.',
    headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
    body: z.strictObject({ amount_usd: positiveUsd, note: z.string().max(200).nullish() }),
    response: created(
      z.object({
        credit: z.object({ id, amount_usd: usd, note: z.string().nullable() }),
        balance,
      }),
    ),
    audit: ['credit.add'],
    errors: ['conflict'],
  }),
  previewCorrection: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/corrections/preview',
    owner: 'billing-ledger',
    access: 'platform:credit',
    summary: 'Preview a correction',
    description:
      'Changes nothing. The confirmation token is valid for ten minutes, for this organization, amount and reason.',
    body: z.strictObject(correctionBody),
    response: json(
      z.object({
        before: balance,
        after: balance,
        confirmation_token: z.string(),
        expires_at: time,
      }),
    ),
    errors: ['conflict'],
  }),
  correct: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/corrections',
    owner: 'billing-ledger',
    access: 'platform:credit',
    summary: 'Remove credit that was added by mistake',
    description:
      'Needs the confirmation token of a preview with the same amount and reason. The response is 409 `conflict` when the token has expired or the available amount would fall below zero. A token takes effect once, however often it is sent.',
    body: z.strictObject({ ...correctionBody, confirmation_token: z.string().max(500) }),
    response: created(
      z.object({
        correction: z.object({ id, amount_usd: usd.meta({ description: 'Negative.' }), reason: z.string() }),
        balance,
      }),
    ),
    audit: ['credit.correct'],
    errors: ['conflict'],
  }),
  months: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement/months',
    owner: 'billing-ledger',
    timeoutMs: STATEMENT_TIMEOUT_MS,
    access: 'credit:read',
    summary: 'List the months of the statement, newest first',
    response: json(z.object({ timezone: z.literal('UTC'), data: z.array(statementMonth) })),
  }),
  statement: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement',
    owner: 'billing-ledger',
    timeoutMs: STATEMENT_TIMEOUT_MS,
    access: 'credit:read',
    summary: 'List the statement lines of a month or a day, newest first',
    query: pageQuery.extend({
      month,
      day: day.optional().meta({ description: 'Only one day of the month, YYYY-MM-DD, UTC.' }),
    }),
    response: json(
      page(statementLine)
        .extend({ timezone: z.literal('UTC'), month, ...monthSums })
        .meta({ id: 'Statement' }),
    ),
    compressed: true,
  }),
  statementDays: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement/days',
    owner: 'billing-ledger',
    timeoutMs: STATEMENT_TIMEOUT_MS,
    access: 'credit:read',
    summary: 'List the days of a statement month with their sums, newest first',
    description: 'Days on which nothing changed the balance are omitted.',
    query: z.strictObject({ month }),
    response: json(
      z
        .object({ timezone: z.literal('UTC'), month, ...monthSums, data: z.array(statementDay) })
        .meta({ id: 'StatementDays' }),
    ),
    compressed: true,
  }),
  credits: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement/credits',
    owner: 'billing-ledger',
    access: 'credit:read',
    summary: 'List the credits and corrections of a month, newest first',
    query: pageQuery.extend({ month }),
    response: json(page(statementCredit)),
  }),
  statementCsv: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement.csv',
    access: 'credit:read',
    summary: 'Download the statement of a month or a day as CSV, oldest first',
    query: z.strictObject({
      month,
      rows: z
        .enum(['lines', 'days', 'credits'])
        .default('lines')
        .meta({ description: 'One row per line, per day, or per credit and correction.' }),
      day: day.optional().meta({ description: 'Only the lines of one day of the month, YYYY-MM-DD, UTC.' }),
    }),
    response: stream('text/csv'),
  }),
  alert: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/credit-alert',
    owner: 'billing-ledger',
    access: 'credit:read',
    summary: 'Get the alerts about a low balance and about budgets',
    response: json(z.object({ alert: creditAlert })),
  }),
  budgetAlerts: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/budget-alerts',
    owner: 'billing-ledger',
    access: 'credit:read',
    summary: 'List the alerts about budgets that were sent',
    description:
      'The newest 100. Those about days, weeks, months and rolling windows are deleted after 90 days.',
    response: json(z.object({ data: z.array(budgetAlert) })),
  }),
  setAlert: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/credit-alert',
    owner: 'billing-ledger',
    access: 'credit:alerts',
    summary: 'Set the alerts about a low balance and about budgets',
    description:
      'Absent fields keep their value; null removes one. One alert is sent when the available amount falls below the threshold. The next is sent only after the amount was above it again. Webhooks are signed with a secret, which is returned once, when the URL is new. Private and local addresses are refused unless the gateway is configured to allow them.',
    body: z.strictObject({
      threshold_usd: positiveUsd.nullish().meta({ description: 'Null: no alerts about a low balance.' }),
      webhook_url: webhook.nullish().meta({ description: 'Null: no webhook.' }),
      emails: z.array(email).max(20).nullish(),
      budget_shares: z.array(z.int().min(1).max(100)).max(5).nullish().meta({
        description:
          'Shares of budgets, in percent. Owners, admins and billing get an email, and the webhook an event, when spending first reaches one in its period. Empty or null: no alerts about budgets.',
      }),
    }),
    response: json(z.object({ alert: creditAlert, webhook_secret: z.string().nullable() })),
    audit: ['credit_alert.set'],
    errors: ['too_many_attempts'],
  }),
  testAlert: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/credit-alert/test',
    owner: 'billing-ledger',
    timeoutMs: DELIVERY_TIMEOUT_MS,
    access: 'credit:alerts',
    summary: 'Send a test to the recipients of low-balance alerts',
    description:
      'The webhook gets the event `alert.test`, and the email says that it is a test. Neither says anything about the balance.',
    body: emptyBody,
    response: json(
      z.object({
        delivered: z.boolean(),
        failure: z.string().nullable().meta({ description: 'Why the delivery failed.' }),
      }),
    ),
    audit: ['credit_alert.test'],
    errors: ['conflict', 'too_many_attempts'],
  }),
} as const;
