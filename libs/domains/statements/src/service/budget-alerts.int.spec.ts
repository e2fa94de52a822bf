import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DAY_MS, HOUR_MS, mailText, type Mail, type UnixMs } from '@gateway/base';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { createSilentLogger } from '@gateway/runtime';
import { createEncryptionKey, createSecretCipher } from '@gateway/secrets';
import { createAuditEntry, eventually } from '@gateway/test-support';
import { createWebhookSender } from '@gateway/webhooks';
import type { Pool } from 'pg';
import type { Budget, BudgetsOfOrganization } from '../core/budget-alert';
import type { BudgetAlertSender } from '../core/ports';
import { createBudgetAlerts } from './budget-alerts';
import { createBudgetAlertSender } from '../adapters/budget-alert-sender';
import { createAlertPages } from '../adapters/mail/alert-pages';
import { createPostgresBudgetAlertStore } from '../adapters/postgres/budget-alert-store';
import { createPostgresCreditAlertStore } from '../adapters/postgres/credit-alert-store';
import { createWebhookSecrets } from '../adapters/postgres/webhook-secrets';

const cipher = createSecretCipher([createEncryptionKey()]);
const secretsOf = (pool: Pool) => createWebhookSecrets({ pool, cipher, log: createSilentLogger() });

const OWNER = 'owner@example.com';

let fixture: LedgerFixture;
let organizationId: string;
let counter = 0;
let found: BudgetsOfOrganization;
let stops: (() => Promise<void>)[];

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.clock.set(Date.UTC(2027, 3, 15, 12) as UnixMs);
  organizationId = `org-${(counter += 1)}`;
  found = { budgets: [], emails: [OWNER] };
  stops = [];
  await fixture.first.store.addCredit(
    { creditId: `credit-${organizationId}`, organizationId, amountNanoUsd: usdNano(10_000), note: 'test' },
    createAuditEntry(),
  );
});
afterEach(async () => {
  for (const stop of stops) await stop();
});

let generations = 0;
const spend = (cost: number, more: { keyId?: string; projectId?: string } = {}) => {
  const generationId = `${organizationId}-${(generations += 1)}`;
  const at = fixture.clock.now();
  return fixture.first.store.settleGenerations(
    [makeFinished({ generationId, organizationId, cost, at, ...more })],
    announce,
  );
};
const until = (isTrue: () => boolean | Promise<boolean>) =>
  eventually('the state', async () => ((await isTrue()) ? true : undefined));
const budget = (
  period: Budget['period'],
  amount: number,
  ownerId = '',
  { hours, model }: Partial<Budget> = {},
): Budget => ({
  hours,
  model,
  ownerId,
  ownerName: ownerId || 'Acme',
  period,
  amountNanoUsd: usdNano(amount),
});

/** A replica of the service, which sends with `sender`. */
function start(sender: BudgetAlertSender, pool = fixture.first.pool) {
  const task = createBudgetAlerts({
    alerts: createPostgresBudgetAlertStore({ pool, secrets: secretsOf(pool) }),
    budgets: { list: async (id) => (id === organizationId ? found : { budgets: [], emails: [] }) },
    sender,
    sendsMail: true,
    log: createSilentLogger(),
    intervalMs: 5,
  });
  task.start();
  stops.push(() => task.stop());
  return task;
}

/** What was sent, such as "day 80 owner@example.com". */
function recorder() {
  const sent: string[] = [];
  const sender: BudgetAlertSender = {
    send: async (alert) => {
      if (alert.organizationId !== organizationId) return;
      sent.push(
        `${alert.ownerId}${alert.ownerId && ' '}${alert.period} ${alert.sharePercent} ${alert.recipient}`,
      );
    },
  };
  return { sent, sender };
}

/** The organization was compared at its latest charge, and every delivery was made. */
async function settled(): Promise<void> {
  await until(async () => {
    const { rows } = await fixture.auditPool.query(
      `select from accounts a left join budget_alert_progress p on p.organization_id = a.organization_id
       where a.organization_id = $1 and a.charged_nano_usd <> coalesce(p.charged_nano_usd, 0)
       union all
       select from budget_alert_deliveries d join budget_alerts b on b.alert_id = d.alert_id
       where b.organization_id = $1 and d.delivered_unix_ms is null`,
      [organizationId],
    );
    return rows.length === 0;
  });
}

it('reports each share of a budget once, when charges first reach it', async () => {
  found = { ...found, budgets: [budget('day', 100)] };
  const { sent, sender } = recorder();
  start(sender);
  await spend(79);
  await settled();
  expect(sent).toEqual([]);
  await spend(1);
  await settled();
  expect(sent).toEqual([`day 80 ${OWNER}`]);
  await spend(15);
  await spend(60);
  await spend(1);
  await settled();
  expect(sent).toEqual([`day 80 ${OWNER}`, `day 100 ${OWNER}`]);
});

it('reports days, months and totals of the organization, its projects and its keys', async () => {
  found = {
    ...found,
    budgets: [
      ...(['day', 'week', 'month', 'total'] as const).map((period) => budget(period, 30)),
      budget('total', 30, 'proj-a'),
      budget('month', 1_000, 'proj-a'),
      budget('day', 30, 'key-a'),
      budget('total', 30, 'key-b'),
    ],
  };
  const { sent, sender } = recorder();
  start(sender);
  await spend(25, { keyId: 'key-a', projectId: 'proj-a' });
  await settled();
  expect(sent.sort()).toEqual(
    ['day', 'week', 'month', 'total', 'key-a day', 'proj-a total']
      .map((name) => `${name} 80 ${OWNER}`)
      .sort(),
  );
});

it('reports a day again on the next day, a total never, and a changed budget as another one', async () => {
  found = { ...found, budgets: [budget('day', 10), budget('total', 10)] };
  const { sent, sender } = recorder();
  start(sender);
  await spend(10);
  await settled();
  expect(sent.splice(0)).toHaveLength(4);
  await fixture.clock.advance(DAY_MS);
  await spend(10);
  await settled();
  expect(sent.splice(0).sort()).toEqual([`day 100 ${OWNER}`, `day 80 ${OWNER}`]);
  found = { ...found, budgets: [budget('total', 25)] };
  await spend(1);
  await settled();
  expect(sent).toEqual([`total 80 ${OWNER}`]);
});

it('reports rolling windows once in as many hours as they have, and models by themselves', async () => {
  found = {
    ...found,
    budgets: [
      budget('window', 100, '', { hours: 2 }),
      budget('month', 100, 'key-a', { model: 'acme/*' }),
      budget('total', 50, 'key-a', { model: 'acme/m' }),
    ],
  };
  const { sent, sender } = recorder();
  start(sender);
  const limited = async (cost: number) => {
    const generationId = `${organizationId}-${(generations += 1)}`;
    const at = fixture.clock.now();
    const hold = makeHold({
      holdId: generationId,
      organizationId,
      amount: cost,
      at,
      limits: {
        organization: { window: { 2: 1e9 } },
        key: { models: { 'acme/*': { month: 1e9 }, 'acme/m': { total: 1e9 } } },
      },
    });
    await fixture.first.store.holdCredit([hold]);
    await fixture.first.store.settleGenerations(
      [makeFinished({ generationId, organizationId, cost, at })],
      announce,
    );
    await settled();
  };
  // It does not count for the models and in the window.
  await spend(1_000);
  await settled();
  expect(sent).toEqual([]);
  await limited(85);
  const first = [`key-a month 80 ${OWNER}`, `key-a total 100 ${OWNER}`, `key-a total 80 ${OWNER}`];
  expect(sent.splice(0).sort()).toEqual([...first, `window 80 ${OWNER}`]);
  await limited(1);
  await fixture.clock.advance(HOUR_MS);
  await limited(1);
  expect(sent.splice(0)).toEqual([]);
  await fixture.clock.advance(HOUR_MS);
  await limited(90);
  expect(sent.splice(0).sort()).toEqual([`key-a month 100 ${OWNER}`, `window 80 ${OWNER}`]);

  const store = createPostgresBudgetAlertStore({
    pool: fixture.first.pool,
    secrets: secretsOf(fixture.first.pool),
  });
  const listed = await store.listAlerts(organizationId, 2);
  expect(listed).toHaveLength(2);
  const delivery = { delivered: 1, undelivered: 0 };
  expect(listed.find(({ period }) => period === 'window')).toMatchObject({
    ...{ hours: 2, model: undefined, periodStart: '2027-04-15T14', ...delivery },
  });
  expect(listed.find(({ period }) => period === 'month')).toMatchObject({
    ...{ ownerId: 'key-a', model: 'acme/*', sharePercent: 100, spentNanoUsd: 177n, ...delivery },
  });
});

it('counts what is settled in the first hour of a day for the day of its admission', async () => {
  await fixture.clock.set((Date.UTC(2027, 3, 15) - 1_000) as UnixMs);
  found = { ...found, budgets: [budget('day', 10)] };
  const at = fixture.clock.now();
  await fixture.clock.advance(60_000);
  await fixture.first.store.settleGenerations(
    [makeFinished({ generationId: `${organizationId}-late`, organizationId, cost: 10, at })],
    announce,
  );
  const { sent, sender } = recorder();
  start(sender);
  await settled();
  expect(sent.sort()).toEqual([`day 100 ${OWNER}`, `day 80 ${OWNER}`]);
});

it('reports each share once from several replicas at once', async () => {
  found = { budgets: [budget('day', 100), budget('total', 100)], emails: [OWNER, 'billing@example.com'] };
  const { sent, sender } = recorder();
  for (const pool of [fixture.first.pool, fixture.second.pool, fixture.first.pool]) start(sender, pool);
  for (let round = 0; round < 12; round += 1) await spend(10);
  await settled();
  expect(sent.sort()).toEqual(
    ['day', 'total']
      .flatMap((period) => [80, 100].map((share) => `${period} ${share}`))
      .flatMap((name) => [`${name} ${OWNER}`, `${name} billing@example.com`])
      .sort(),
  );
});

it('gives each delivery to one of the processes that claim at once', async () => {
  const emails = Array.from({ length: 300 }, (_, index) => `person-${index}@example.com`);
  const [one, other] = [fixture.first, fixture.second].map(({ pool }) =>
    createPostgresBudgetAlertStore({ pool, secrets: secretsOf(pool) }),
  );
  await spend(100);
  await one?.recordReached(
    { organizationId, chargedNanoUsd: 100n },
    { budgets: [budget('day', 110)], emails },
  );
  const claims = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other)?.claimDue(300)),
  );
  const recipients = claims.flatMap((claimed) => claimed?.map(({ recipient }) => recipient) ?? []);
  expect(recipients.sort()).toEqual([...emails].sort());
});

it('sends an alert of a process that terminated before it was sent, and no delivered one again', async () => {
  found = { ...found, budgets: [budget('day', 100)] };
  await spend(85);
  start({ send: () => new Promise(() => undefined) });
  await until(async () => {
    const { rows } = await fixture.auditPool.query(
      'select from budget_alert_deliveries where starts_with(alert_id, $1) and attempts = 1',
      [`${organizationId}.`],
    );
    return rows.length > 0;
  });
  // It never ends its round, so it is not awaited.
  stops.shift();
  const { sent, sender } = recorder();
  start(sender, fixture.second.pool);
  await fixture.clock.advance(120_001);
  await until(() => sent.length > 0);
  await settled();
  await fixture.clock.advance(DAY_MS / 2 - 600_000);
  await settled();
  expect(sent).toEqual([`day 80 ${OWNER}`]);
});

it('repeats a failed delivery without repeating those to other recipients', async () => {
  found = { budgets: [budget('day', 100)], emails: [OWNER, 'broken@example.com'] };
  const { sent, sender } = recorder();
  let failures = 0;
  start({
    send: async (alert) => {
      if (alert.recipient === 'broken@example.com' && (failures += 1) === 1)
        throw new Error('no such mailbox');
      await sender.send(alert);
    },
  });
  await spend(85);
  await until(() => failures === 1 && sent.length === 1);
  await fixture.clock.advance(120_001);
  await until(() => sent.length === 2);
  await settled();
  expect(sent).toEqual([`day 80 ${OWNER}`, 'day 80 broken@example.com']);
});

it('reports the shares that the organization has chosen, also none, and sends a signed event to its webhook', async () => {
  const received: { body: Record<string, unknown>; signature: unknown }[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push({
        body: JSON.parse(body) as Record<string, unknown>,
        signature: request.headers['x-gateway-signature'],
      });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(() => resolve())));
  const set = (budgetShares: readonly number[]) =>
    createPostgresCreditAlertStore({
      pool: fixture.first.pool,
      secrets: secretsOf(fixture.first.pool),
    }).setAlert(
      organizationId,
      {
        webhookUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
        budgetShares,
      },
      'whsec_test',
      createAuditEntry(),
    );
  const mails: Mail[] = [];
  found = { ...found, budgets: [budget('month', 1_000_000_000, 'proj-a')] };
  await fixture.first.store.addCredit(
    { creditId: `more-${organizationId}`, organizationId, amountNanoUsd: usdNano(2e9), note: 'test' },
    createAuditEntry(),
  );
  const sender = createBudgetAlertSender({
    webhooks: createWebhookSender({ clock: fixture.clock, allowPrivateAddresses: true }),
    mailer: { send: async (mail) => void mails.push(mail) },
    pages: createAlertPages({
      organizationName: async () => 'Acme',
      timeZones: async () => ({ [OWNER]: 'Europe/Berlin' }),
      dashboardUrl: () => 'https://dashboard.example.com',
    }),
  });
  await set([]);
  start(sender);
  await spend(900_000_000, { projectId: 'proj-a' });
  await settled();
  expect([received, mails]).toEqual([[], []]);
  await set([50]);
  await spend(1, { projectId: 'proj-a' });
  await settled();
  expect(received).toEqual([
    {
      signature: expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
      body: {
        event: 'budget.share_reached',
        id: `${organizationId}.proj-a.month.2027-04.1000000000.50`,
        organization_id: organizationId,
        scope: 'project',
        owner_id: 'proj-a',
        owner_name: 'proj-a',
        limit_type: 'monthly_budget',
        hours: null,
        model: null,
        period_start: '2027-04',
        share_percent: 50,
        budget_usd: '1',
        spent_usd: '0.900000001',
        reached_at: '2027-04-15T12:00:00.000Z',
        end_user_count: null,
        end_users: null,
      },
    },
  ]);
  expect(mails).toMatchObject([
    {
      to: OWNER,
      subject: '50% of the monthly budget of the project proj-a is spent',
      paragraphs: ['The project proj-a has spent $0.90 of its monthly budget of $1.00.'],
      link: { url: `https://dashboard.example.com/o/${organizationId}/projects/proj-a` },
    },
  ]);
  expect(mails[0] && mailText(mails[0])).toContain(
    'Reached: Thu, 15 Apr 2027 14:00:00 Europe/Berlin (12:00:00 UTC)',
  );
});

it('deletes alerts about days and months after their retention, and keeps those about totals', async () => {
  found = { ...found, budgets: [budget('day', 10), budget('month', 10), budget('total', 10)] };
  const { sender } = recorder();
  start(sender);
  await spend(10);
  await settled();
  await fixture.clock.advance(91 * DAY_MS);
  await until(async () => {
    const { rows } = await fixture.auditPool.query<{ period: string }>(
      'select distinct period from budget_alerts where organization_id = $1',
      [organizationId],
    );
    return rows.length === 1 && rows[0]?.period === 'total';
  });
});
