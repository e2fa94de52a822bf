import type { HoldResult } from '@gateway/contracts/billing-ledger';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import type { ErrorEnvelope } from '@gateway/errors';
import { limits } from '../limits';
import { BODY, startEdge, type TestEdge, until } from '../../testing/start-edge';

/** Credit for the request is there, but reserved. */
const RESERVED: HoldResult['outcome'] = {
  $case: 'insufficientCredits',
  value: { availableNanoUsd: 0n, heldNanoUsd: 1_530_000n, estimatedCostNanoUsd: 1_530_000n },
};
const RESERVED_BUDGET: HoldResult['outcome'] = {
  $case: 'budgetExceeded',
  value: {
    period: BudgetPeriod.BUDGET_PERIOD_DAY,
    scope: BudgetScope.BUDGET_SCOPE_ORGANIZATION,
    limitNanoUsd: 5_000_000_000n,
    usedNanoUsd: 5_000_000_000n,
    heldNanoUsd: 2_000_000_000n,
    estimatedCostNanoUsd: 1_530_000n,
  },
};

let edge: TestEdge;
afterEach(() => edge.stop());

it.each([
  ['the balance', RESERVED],
  ['the daily budget', RESERVED_BUDGET],
])('waits for running requests to release %s', async (_, refusal) => {
  edge = await startEdge({ settings: { holdWaitMs: 60_000 } });
  edge.ledger.refuse = refusal;
  const response = edge.chat();
  await until(() => edge.ledger.holdCalls >= 3);
  edge.ledger.refuse = undefined;
  expect((await response).status).toBe(200);
});

it('refuses after the wait, and says that a retry may succeed soon', async () => {
  edge = await startEdge({ settings: { holdWaitMs: 200 } });
  edge.ledger.refuse = RESERVED;
  const response = await edge.chat();
  expect(edge.ledger.holdCalls).toBeGreaterThan(1);
  expect(response.status).toBe(402);
  expect(retryHeaders(response)).toEqual(['2', '2000', 'true']);
  const { error } = (await response.json()) as ErrorEnvelope;
  expect(error.metadata).toMatchObject({ available: 0, held: 0.00153, estimated_cost: 0.00153 });
  expect(error.message).toContain('Retry in a few seconds');
  expect(edge.limiter.outstanding.size).toBe(0);

  edge.ledger.refuse = RESERVED_BUDGET;
  const overBudget = await edge.chat();
  const [untilMidnightS, ...soon] = retryHeaders(overBudget);
  expect(Number(untilMidnightS)).toBeLessThanOrEqual(86_400);
  expect(soon).toEqual(['2000', 'true']);
  expect(((await overBudget.json()) as ErrorEnvelope).error).toMatchObject({
    code: 'daily_budget_exceeded',
    message: expect.stringContaining('retry in a few seconds'),
    metadata: { limit: 5, held: 2 },
  });
});

it.each([
  ['credit', { ...RESERVED, value: { ...RESERVED.value, heldNanoUsd: 1_529_999n } }],
  ['budget', { ...RESERVED_BUDGET, value: { ...RESERVED_BUDGET.value, heldNanoUsd: 1_529_999n } }],
] as [string, HoldResult['outcome']][])(
  'does not wait where all holds together are too little %s',
  async (_, refusal) => {
    edge = await startEdge({ settings: { holdWaitMs: 60_000 } });
    edge.ledger.refuse = refusal;
    const response = await edge.chat();
    expect(edge.ledger.holdCalls).toBe(1);
    expect(response.headers.get('x-should-retry')).not.toBe('true');
    expect(await response.text()).not.toContain('few seconds');
  },
);

it('refuses at once where the wait is 0', async () => {
  edge = await startEdge({ settings: { holdWaitMs: 0 } });
  edge.ledger.refuse = RESERVED;
  expect((await edge.chat()).status).toBe(402);
  expect(edge.ledger.holdCalls).toBe(1);
});

it('lets a limited number of requests of an organization wait', async () => {
  edge = await startEdge({ settings: { holdWaitMs: 60_000 } });
  edge.ledger.refuse = RESERVED;
  const { maxPerOrganization } = limits.holdWaits;
  const responses = Array.from({ length: maxPerOrganization + 1 }, () => edge.chat());
  expect((await Promise.race(responses)).status).toBe(402);
  edge.ledger.refuse = undefined;
  const statuses = await Promise.all(responses.map(async (response) => (await response).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(maxPerOrganization);
});

it('stops waiting when the client disconnects, and leaves nothing reserved', async () => {
  edge = await startEdge({ settings: { holdWaitMs: 60_000 } });
  edge.ledger.refuse = RESERVED;
  const client = new AbortController();
  const response = edge.chat(BODY, {}, client.signal).catch(() => undefined);
  await until(() => edge.ledger.holdCalls >= 2);
  client.abort();
  await response;
  await until(() => edge.logLines.some((line) => line.includes('"status":499')));
  await until(() => edge.limiter.outstanding.size + edge.ledger.held.size === 0);
  const calls = edge.ledger.holdCalls;
  edge.ledger.refuse = undefined;
  expect((await edge.chat()).status).toBe(200);
  expect(edge.ledger.holdCalls).toBe(calls + 1);
});

function retryHeaders({ headers }: Response): (string | null)[] {
  return ['retry-after', 'retry-after-ms', 'x-should-retry'].map((name) => headers.get(name));
}
