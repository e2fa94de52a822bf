import { eventually, signIn } from '@gateway/test-support';
import { complete, type Outcome } from './testing/chat-completion';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { expectConsistentLedger, expectEverythingSettled } from './testing/ledger-checks';

jest.setTimeout(180_000);

const ROUNDS = 3;
const CALLS = 100;
const RUN_BUDGET_USD = '0.0005';
/** Some calls have ended, and some still run. */
const ENOUGH = 10;
/** A stream with several slices of an elastic hold. */
const LONG_CALL = 18;

let testEnv: CrashTestEnv;

beforeAll(async () => {
  testEnv = await startCrashTestEnv({ env: { GATEWAY_ELASTIC_HOLD_TOKENS: '64' } });
});
afterAll(() => testEnv?.close());

/** Responses of different lengths and speeds; every fourth costs more than was held for it. */
function call(runId: string, index: number, maxTokens: number): Promise<Outcome> {
  const more = index % 4 === 0 ? '[[fault:wrong-usage:200:60]]' : '';
  const tokens = 1 + ((index * 13) % Math.floor(maxTokens / 1.5));
  const prompt = `[[tokens:${tokens}]] [[rate:${maxTokens + index}]] ${more} ${runId}, call ${index}`;
  return complete(testEnv.gateway, {
    ...{ prompt, maxTokens, runId, runBudgetUsd: RUN_BUDGET_USD },
    stream: index % 8 !== 0,
  });
}

async function setElasticHolds(enabled: boolean): Promise<void> {
  const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
  const admin = await signIn(dashboardUrl, adminEmail, adminPassword);
  const { data } = await admin.call<{ data: { id: string }[] }>('GET', '/api/organizations');
  for (const { id } of data) await admin.call('PUT', `/api/organizations/${id}/elastic-holds`, { enabled });
}

interface Run {
  readonly run: string;
  readonly budget: bigint;
  readonly spent: bigint;
  readonly held: bigint;
}

async function runs(): Promise<readonly Run[]> {
  const { rows } = await testEnv.pool.query<Run>(
    `select run_id as run, budget_nano_usd as budget, spent_nano_usd as spent, held_nano_usd as held
     from billing_ledger.runs`,
  );
  for (const { budget, spent, held } of rows) expect(spent + held).toBeLessThanOrEqual(budget);
  return rows;
}

async function extensions(): Promise<number> {
  const { rows } = await testEnv.pool.query<{ count: number }>(
    `select count(*)::integer as count from billing_ledger.postings where kind = 'extension'`,
  );
  return rows[0]?.count ?? 0;
}

describe.each([
  ['fixed', { elastic: false, maxTokens: 60 }],
  ['elastic', { elastic: true, maxTokens: 400 }],
])('with %s holds', (name, { elastic, maxTokens }) => {
  it('a hundred parallel calls of a run never spend more than its budget, through kill -9 and late settlement', async () => {
    await setElasticHolds(elastic);
    const outcomes: Outcome[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const run = `${name}-${round}`;
      const extendedBefore = await extensions();
      const first = call(run, LONG_CALL, maxTokens);
      // While the others run, extensions can be refused: their holds cover the budget until they are settled.
      if (elastic) {
        await eventually('an extension', async () => (await extensions()) > extendedBefore || undefined);
      }
      let finished = 0;
      const calls = Promise.all(
        Array.from({ length: CALLS }, async (_, index) => {
          const outcome = await call(run, index, maxTokens);
          if (outcome.kind === 'finished') finished += 1;
          return outcome;
        }),
      );
      await eventually(`${ENOUGH} responses`, async () => {
        await runs();
        return finished >= ENOUGH ? true : undefined;
      });
      await testEnv.kill();
      outcomes.push(await first, ...(await calls));
      await testEnv.restart();
      await expectConsistentLedger(testEnv.pool);
      await runs();
    }

    const refused = outcomes.filter((outcome) => outcome.kind === 'failed' && outcome.status === 402);
    expect(refused.length).toBeGreaterThan(0);
    await expectEverythingSettled(testEnv.pool);
    const ended = (await runs()).filter(({ run }) => run.includes(`/${name}-`));
    expect(ended).toHaveLength(ROUNDS);
    for (const { spent } of ended) expect(spent).toBeGreaterThan(0n);
    if (!elastic) expect(await extensions()).toBe(0);
  });
});
