import { eventually, signIn } from '@gateway/test-support';
import { complete, type Outcome } from './testing/chat-completion';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { expectConsistentLedger, expectEverythingSettled } from './testing/ledger-checks';

jest.setTimeout(180_000);

const ROUNDS = 2;
const CALLS = 100;
/** Some calls have ended, and some still run. */
const ENOUGH = 10;
const NANO_USD_PER_ROUND = 500_000n;

/** What the organization has spent and holds, by kind of budget. Charges do not exceed their holds here. */
const USED = {
  week: `
    select coalesce(sum(spent_nano_usd + held_nano_usd), 0)::bigint as used from billing_ledger.budget_accounts
    where owner_id = '' and day >= date_trunc('week', now() at time zone 'UTC')`,
  window: `
    select coalesce(sum(spent_nano_usd + held_nano_usd), 0)::bigint as used from billing_ledger.budget_hours
    where counter = ''`,
  month: `
    select coalesce(sum(spent_nano_usd + held_nano_usd), 0)::bigint as used from billing_ledger.budget_hours
    where counter = '/model/*'`,
};

let testEnv: CrashTestEnv;

beforeAll(async () => {
  testEnv = await startCrashTestEnv();
});
afterAll(() => testEnv?.close());

async function setBudget(kind: keyof typeof USED, nanoUsd: bigint): Promise<void> {
  const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
  const admin = await signIn(dashboardUrl, adminEmail, adminPassword);
  const { data } = await admin.call<{ data: { id: string }[] }>('GET', '/api/organizations');
  const amount = `0.${nanoUsd.toString().padStart(9, '0')}`;
  for (const { id } of data) {
    await admin.call('PUT', `/api/organizations/${id}/limits`, {
      weekly_budget_usd: kind === 'week' ? amount : null,
      budgets: budgetsOf(kind, amount),
    });
  }
}

function budgetsOf(kind: keyof typeof USED, amount_usd: string) {
  if (kind === 'window') return [{ period: 'window', hours: 744, amount_usd }];
  return kind === 'month' ? [{ period: 'month', model: '*', amount_usd }] : null;
}

async function usedOf(kind: keyof typeof USED): Promise<bigint> {
  const { rows } = await testEnv.pool.query<{ used: bigint }>(USED[kind]);
  return rows[0]?.used ?? 0n;
}

describe.each([
  ['of a week', 'week'],
  ['of a rolling window', 'window'],
  ['of a month for models', 'month'],
] as const)('a budget %s', (_, kind) => {
  it('is never exceeded by a hundred parallel calls, through kill -9 and late settlement', async () => {
    const outcomes: Outcome[] = [];
    let budget = await usedOf(kind);
    for (let round = 1; round <= ROUNDS; round += 1) {
      budget += NANO_USD_PER_ROUND;
      await setBudget(kind, budget);
      let finished = 0;
      const calls = Promise.all(
        Array.from({ length: CALLS }, async (_, index) => {
          const prompt = `[[tokens:${1 + ((index * 13) % 40)}]] [[rate:${60 + index}]] ${kind} ${round}, ${index}`;
          const outcome = await complete(testEnv.gateway, { prompt, stream: index % 8 !== 0 });
          if (outcome.kind === 'finished') finished += 1;
          return outcome;
        }),
      );
      await eventually(`${ENOUGH} responses`, async () => {
        expect(await usedOf(kind)).toBeLessThanOrEqual(budget);
        return finished >= ENOUGH ? true : undefined;
      });
      await testEnv.kill();
      outcomes.push(...(await calls));
      await testEnv.restart();
      await expectConsistentLedger(testEnv.pool);
      expect(await usedOf(kind)).toBeLessThanOrEqual(budget);
    }
    const refused = outcomes.filter((outcome) => outcome.kind === 'failed' && outcome.status === 402);
    expect(refused.length).toBeGreaterThan(0);
    await expectEverythingSettled(testEnv.pool);
    const used = await usedOf(kind);
    expect(used).toBeGreaterThan(0n);
    expect(used).toBeLessThanOrEqual(budget);
  });
});
