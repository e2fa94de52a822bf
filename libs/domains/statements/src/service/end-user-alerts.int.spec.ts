import { DAY_MS, HOUR_MS, mailText, MINUTE_MS, type Mail, type UnixMs } from '@gateway/base';
import {
  announce,
  budgetsOf,
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
import { createBudgetAlertSender } from '../adapters/budget-alert-sender';
import { createAlertPages } from '../adapters/mail/alert-pages';
import { createPostgresBudgetAlertStore } from '../adapters/postgres/budget-alert-store';
import { createWebhookSecrets } from '../adapters/postgres/webhook-secrets';
import type { Budget, DueBudgetAlert } from '../core/budget-alert';
import { createBudgetAlerts } from './budget-alerts';

const cipher = createSecretCipher([createEncryptionKey()]);
const OWNER = 'owner@example.com';

let fixture: LedgerFixture;
let organizationId: string;
let counter = 0;
let budgets: Budget[];
let sent: DueBudgetAlert[];
let stops: (() => Promise<void>)[];

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.clock.set(Date.UTC(2027, 3, 15, 12) as UnixMs);
  organizationId = `org-${(counter += 1)}`;
  budgets = [];
  sent = [];
  stops = [];
  await fixture.first.store.addCredit(
    { creditId: `credit-${organizationId}`, organizationId, amountNanoUsd: usdNano(1e9), note: 'test' },
    createAuditEntry(),
  );
});
afterEach(async () => {
  for (const stop of stops) await stop();
});

const budget = (period: Budget['period'], amount: number, hours?: number): Budget => ({
  ...{ ownerId: 'key-a', ownerName: 'Shop', period, hours, model: undefined, perEndUser: true },
  amountNanoUsd: usdNano(amount),
});

/** Holds and settles one cost of each end user. */
async function spend(costs: Readonly<Record<string, number>>): Promise<void> {
  const at = fixture.clock.now();
  const of = Object.entries(costs).map(([endUser, cost]) => ({
    ...{ endUser, cost, holdId: `${organizationId}-${(counter += 1)}` },
  }));
  const limits = { end_user: { day: 1e9, total: 1e9, window: { 2: 1e9 } } };
  const holds = of.map(({ endUser, cost, holdId }) => {
    const hold = makeHold({ holdId, organizationId, amount: cost, at });
    return { ...hold, budgets: budgetsOf(hold, limits, endUser) };
  });
  const outcomes = await fixture.first.store.holdCredit(holds);
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['held']));
  const finished = of.map(({ cost, holdId }) =>
    makeFinished({ generationId: holdId, organizationId, cost, at }),
  );
  await fixture.first.store.settleGenerations(finished, announce);
}

const storeOf = (pool: Pool) =>
  createPostgresBudgetAlertStore({
    pool,
    secrets: createWebhookSecrets({ pool, cipher, log: createSilentLogger() }),
  });

/** A replica of the service. */
function start(pool = fixture.first.pool, emails: readonly string[] = [OWNER]) {
  const task = createBudgetAlerts({
    alerts: storeOf(pool),
    budgets: {
      list: async (id) => (id === organizationId ? { budgets, emails } : { budgets: [], emails: [] }),
    },
    sender: { send: async (alert) => void sent.push(alert) },
    sendsMail: true,
    log: createSilentLogger(),
    intervalMs: 5,
  });
  task.start();
  stops.push(() => task.stop());
}

/** The organization was compared at its latest charge, no end user waits, and every delivery was made. */
async function settled({ except = 0 } = {}): Promise<void> {
  await eventually('the alerts', async () => {
    const { rows } = await fixture.auditPool.query<{ waiting: bigint; open: bigint }>(
      `select
         (select count(*) from budget_alert_end_users where organization_id = $1 and alert_id is null) as waiting,
         (select count(*) from accounts a left join budget_alert_progress p using (organization_id)
          where organization_id = $1 and a.charged_nano_usd <> coalesce(p.charged_nano_usd, 0))
         + (select count(*) from budget_alert_deliveries join budget_alerts using (alert_id)
            where organization_id = $1 and delivered_unix_ms is null) as open`,
      [organizationId],
    );
    const [row] = rows;
    return row?.open === 0n && row.waiting === BigInt(except) ? true : undefined;
  });
}

/** What was sent, such as "day 80: alice 90, bob 85". */
const taken = () =>
  sent
    .splice(0)
    .map(({ period, sharePercent, endUsers }) => {
      const users = endUsers.map(({ endUser, spentNanoUsd }) => `${endUser || '(none)'} ${spentNanoUsd}`);
      return `${period} ${sharePercent}: ${users.join(', ')}`;
    })
    .sort();

it('reports the end users that reach a share in one alert, each once in a period', async () => {
  budgets = [budget('day', 100), budget('total', 1_000), budget('window', 200, 2)];
  start();
  await spend({ alice: 79, bob: 85, carol: 90, '': 100 });
  await settled();
  expect(taken()).toEqual(['day 100: (none) 100', 'day 80: (none) 100, carol 90, bob 85']);
  await fixture.clock.advance(HOUR_MS);
  await spend({ alice: 1, bob: 1, carol: 70 });
  await settled();
  expect(taken()).toEqual(['day 100: carol 160', 'day 80: alice 80', 'window 80: carol 160']);
  await fixture.clock.advance(DAY_MS);
  await spend({ alice: 720 });
  await settled();
  expect(taken()).toEqual([
    'day 100: alice 720',
    'day 80: alice 720',
    'total 80: alice 800',
    'window 100: alice 720',
    'window 80: alice 720',
  ]);
});

it('sends at most one alert about a share within an hour, and the rest once it is over, without another charge', async () => {
  budgets = [budget('day', 100)];
  start();
  await spend({ alice: 80 });
  await settled();
  expect(taken()).toEqual(['day 80: alice 80']);
  for (const [waiting, endUser] of ['bob', 'carol'].entries()) {
    await fixture.clock.advance(MINUTE_MS);
    await spend({ [endUser]: 81 });
    await settled({ except: waiting + 1 });
  }
  expect(taken()).toEqual([]);
  await fixture.clock.advance(HOUR_MS);
  await settled();
  expect(taken()).toEqual(['day 80: bob 81, carol 81']);
});

it('lists many end users in few alerts, also from several replicas at once', async () => {
  budgets = [budget('day', 100)];
  const emails = [OWNER, 'billing@example.com'];
  for (const pool of [fixture.first.pool, fixture.second.pool, fixture.first.pool]) start(pool, emails);
  await spend(Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`user-${index}`, 80 + index])));
  await settled();
  expect(sent).toHaveLength(4);
  const shares = sent.map(({ sharePercent, endUserCount, recipient }) => [
    sharePercent,
    endUserCount,
    recipient,
  ]);
  expect(shares).toEqual(
    expect.arrayContaining(
      emails.flatMap((email) => [
        [80, 250, email],
        [100, 230, email],
      ]),
    ),
  );
  expect(sent[0]?.endUsers).toHaveLength(20);
  const { rows } = await fixture.auditPool.query<{ listed: bigint; alerts: bigint }>(
    `select count(*) as listed, count(distinct alert_id) as alerts from budget_alert_end_users
     where organization_id = $1 and alert_id is not null`,
    [organizationId],
  );
  expect(rows).toEqual([{ listed: 480n, alerts: 2n }]);
  expect(await storeOf(fixture.first.pool).listAlerts(organizationId, 10)).toEqual(
    expect.arrayContaining([expect.objectContaining({ sharePercent: 80, endUserCount: 250, delivered: 2 })]),
  );
});

it('names the end users in an email, and counts the others', async () => {
  const mails: Mail[] = [];
  const sender = createBudgetAlertSender({
    webhooks: createWebhookSender({ clock: fixture.clock, allowPrivateAddresses: true }),
    mailer: { send: async (mail) => void mails.push(mail) },
    pages: createAlertPages({
      organizationName: async () => 'Acme',
      timeZones: async () => ({}),
      dashboardUrl: () => 'https://dashboard.example.com',
    }),
  });
  budgets = [budget('month', 1_000_000_000)];
  start();
  await spend({ alice: 850_000_000 });
  await settled();
  const [alert] = sent;
  if (!alert) throw new Error('nothing was sent');
  await sender.send({ ...alert, endUserCount: 1_201 });
  expect(mails).toMatchObject([
    {
      to: OWNER,
      subject: '1201 end users of the key Shop reached 80% of their monthly budget',
      paragraphs: [
        '1201 end users of the key Shop spent at least 80% of the monthly budget of $1.00 that each of them has.',
      ],
      link: { url: `https://dashboard.example.com/o/${organizationId}/keys/key-a` },
    },
  ]);
  const text = mails[0] && mailText(mails[0]);
  expect(text).toContain('alice: $0.85');
  expect(text).toContain('Other end users: 1200');
});

it('deletes the end users of a past period with their alert, and keeps those of a total', async () => {
  budgets = [budget('day', 10), budget('total', 10)];
  start();
  await spend({ alice: 10 });
  await settled();
  await fixture.clock.advance(91 * DAY_MS);
  await eventually('the deletion', async () => {
    const { rows } = await fixture.auditPool.query<{ period: string }>(
      'select distinct period from budget_alert_end_users where organization_id = $1',
      [organizationId],
    );
    return rows.length === 1 && rows[0]?.period === 'total' ? true : undefined;
  });
});

it('lists all end users in one alert, while the clock advances within a statement', async () => {
  budgets = [budget('total', 100)];
  await fixture.auditPool.query(`
    create sequence billing_ledger.ticks;
    create or replace function billing_ledger.now_unix_ms() returns bigint language sql as
      'select ${fixture.clock.now()} + nextval(''billing_ledger.ticks'')'`);
  start();
  await spend(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`user-${index}`, 85])));
  await settled();
  expect(sent.map(({ endUserCount }) => endUserCount)).toEqual([50]);
});
