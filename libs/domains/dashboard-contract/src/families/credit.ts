import { z } from 'zod';
import { created, endpoint, json, stream } from '../endpoint';
import { emptyBody, id, page, pageQuery, positiveUsd, time, usd } from '../fields';

const balance = z
  .object({
    total_credits_usd: usd,
    total_usage_usd: usd,
    balance_usd: usd.meta({ description: 'what was added less what was used' }),
    reserved_usd: usd.meta({ description: 'held for running requests' }),
    available_usd: usd.meta({ description: 'the balance less what is reserved' }),
  })
  .meta({ id: 'Balance' });

const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable characters' });

const runningLow = z.object({ threshold_usd: usd, since: time }).meta({
  id: 'RunningLow',
  description: 'There while the available amount is below the threshold that was set.',
});

const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'must be a month such as 2026-11' })
  .meta({ description: 'YYYY-MM, UTC', examples: ['2026-11'] });

const monthSums = {
  opening_balance_usd: usd,
  added_usd: usd.meta({ description: 'credit that was added' }),
  corrected_usd: usd.meta({ description: 'corrections: zero or negative' }),
  used_usd: usd.meta({ description: 'charged to generations: zero or negative' }),
  closing_balance_usd: usd.meta({ description: 'opening + added + corrected + used, to the nano-dollar' }),
};

const statementMonth = z
  .object({ month, ...monthSums })
  .meta({ id: 'StatementMonth', description: 'Booked in this month of UTC; the present one so far.' });

const statementLine = z
  .object({
    posted_at: time,
    kind: z.enum(['credit', 'correction', 'settlement']),
    reference: id.meta({ description: 'the id of the credit, the correction or the generation' }),
    amount_usd: usd.meta({ description: 'what the balance went up by; negative: down' }),
    balance_usd: usd.meta({ description: 'the balance after it' }),
    note: z.string().nullable().meta({ description: 'who added or corrected credit, and why' }),
  })
  .meta({ id: 'StatementLine' });

const webhook = z.string().max(2_000);
const email = z.string().max(320);

const creditAlert = z
  .object({
    threshold_usd: usd.nullable().meta({ description: 'null: no alert' }),
    webhook_url: z.string().nullable(),
    emails: z.array(z.string()),
    last_sent_at: time.nullable(),
    last_failure: z
      .string()
      .nullable()
      .meta({ description: 'why the last alert did not arrive; null when it did, or there was none' }),
  })
  .meta({ id: 'CreditAlert' });

const correctionBody = {
  amount_usd: positiveUsd.meta({ description: 'what is taken from the balance' }),
  reason: z.string().trim().min(1).max(200),
};

export const creditEndpoints = {
  balance: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/balance',
    who: 'credit:read',
    summary: 'The balance of an organization',
    answer: json(z.object({ balance, running_low: runningLow.nullable() })),
  }),
  live: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/live',
    who: 'credit:read',
    summary: 'The figures that move, small enough to ask for every second',
    answer: json(
      z.object({
        balance,
        running_low: runningLow.nullable(),
        spend_today_usd: usd.meta({ description: 'charged to generations that were admitted today, UTC' }),
        requests_today: z.int().min(0),
        latest_generation_id: id
          .nullable()
          .meta({ description: 'the last admitted of those that are settled; it changes when lists do' }),
      }),
    ),
  }),
  add: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/credits',
    who: 'platform:credit',
    summary: 'Add credit',
    description:
      'The same Idempotency-Key adds the same credit once, however often it is sent; with another amount it is 409 `conflict`.',
    headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
    body: z.strictObject({ amount_usd: positiveUsd, note: z.string().max(200).nullish() }),
    answer: created(
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
    who: 'platform:credit',
    summary: 'What a correction would leave',
    description:
      'Changes nothing. The token confirms this amount and reason for this organization for ten minutes.',
    body: z.strictObject(correctionBody),
    answer: json(
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
    who: 'platform:credit',
    summary: 'Take credit back that was added in error',
    description:
      'Asks for the token of a preview of the same amount and reason. What is available never falls below zero: then, and with a token that has expired, it is 409 `conflict`. The same token corrects once, however often it is sent.',
    body: z.strictObject({ ...correctionBody, confirmation_token: z.string().max(500) }),
    answer: created(
      z.object({
        correction: z.object({ id, amount_usd: usd.meta({ description: 'negative' }), reason: z.string() }),
        balance,
      }),
    ),
    audit: ['credit.correct'],
    errors: ['conflict'],
  }),
  months: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement/months',
    who: 'credit:read',
    summary: 'The months of the statement, newest first',
    answer: json(z.object({ timezone: z.literal('UTC'), data: z.array(statementMonth) })),
  }),
  statement: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement',
    who: 'credit:read',
    summary: 'What moved the balance in a month, newest first',
    query: pageQuery.extend({ month }),
    answer: json(
      page(statementLine)
        .extend({ timezone: z.literal('UTC'), month, ...monthSums })
        .meta({ id: 'Statement' }),
    ),
  }),
  statementCsv: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/statement.csv',
    who: 'credit:read',
    summary: 'The statement of a month as a CSV file, oldest first',
    query: z.strictObject({ month }),
    answer: stream('text/csv'),
  }),
  alert: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/credit-alert',
    who: 'credit:read',
    summary: 'When and whom a low balance is told to',
    answer: json(z.object({ alert: creditAlert })),
  }),
  setAlert: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/credit-alert',
    who: 'credit:alerts',
    summary: 'Say when and whom a low balance is told to',
    description:
      'One alert is sent when the available amount falls below the threshold, and the next only after it was above again. Webhooks are signed with the secret, which is answered when the address is new and never again. Private and local addresses are refused unless the gateway is configured to allow them.',
    body: z.strictObject({
      threshold_usd: positiveUsd.nullable(),
      webhook_url: webhook.nullable(),
      emails: z.array(email).max(20),
    }),
    answer: json(z.object({ alert: creditAlert, webhook_secret: z.string().nullable() })),
    audit: ['credit_alert.set'],
  }),
  testAlert: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/credit-alert/test',
    who: 'credit:alerts',
    summary: 'Send the alert once to see whether it arrives',
    body: emptyBody,
    answer: json(
      z.object({
        delivered: z.boolean(),
        failure: z.string().nullable().meta({ description: 'why it did not' }),
      }),
    ),
    audit: ['credit_alert.test'],
    errors: ['conflict'],
  }),
} as const;
