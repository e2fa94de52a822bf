import { BudgetPeriod, budgetPeriodOf, BudgetScope } from '@gateway/contracts/common';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import type { ErrorEnvelope } from '@gateway/errors';
import { BODY, grant, KEY, startEdge, type TestEdge } from '../../testing/start-edge';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge({ settings: { holdWaitMs: 0 } });
});
afterEach(() => edge.stop());

const errorOf = async (response: Response) => ((await response.json()) as ErrorEnvelope).error;
const held = () => [...edge.ledger.held.values()];

/**
 * The holds while the router runs the only request, and that request. An assertion
 * within the script would fail as a failure of the router.
 */
async function whileRunning(headers?: Record<string, string>) {
  const seen: { holds: ReturnType<typeof held>; request: GenerateRequest }[] = [];
  edge.router.script = async function* (request) {
    seen.push({ holds: held(), request });
    throw new Error('enough');
  };
  await edge.chat(BODY, headers);
  expect(seen).toHaveLength(1);
  return seen[0];
}

describe('x-max-cost-usd', () => {
  it('lowers the output limit of hold, rate limit and provider to what it covers', async () => {
    await edge.chat();
    const [full = 0n] = edge.ledger.amounts;
    edge.ledger.amounts.length = 0;
    const response = await edge.chat(BODY, { 'x-max-cost-usd': '0.001' });
    expect(response.status).toBe(200);
    const [lowered = 0n] = edge.ledger.amounts;
    expect(full).toBeGreaterThan(1_000_000n);
    expect(lowered).toBeLessThanOrEqual(1_000_000n);
    const [, request] = edge.router.requests;
    expect(request?.maxOutputTokens).toBeLessThan(100);
    // One more token would cost more than the maximum: the dearest token costs $20 per million.
    expect(lowered + 20_000n).toBeGreaterThan(1_000_000n);
  });

  it('is held with the largest prompt that is accepted from the provider, and limits what is charged', async () => {
    await edge.chat();
    await edge.chat(BODY, { 'x-max-cost-usd': '1' });
    await edge.chat(BODY, { 'x-run-id': 'agent/1', 'x-run-budget-usd': '1' });
    const [usual, limited, inRun] = edge.router.requests;
    const estimate = usual?.estimatedInputTokens ?? 0;
    expect(usual?.maxInputTokens).toBeUndefined();
    for (const request of [limited, inRun]) expect(request?.maxInputTokens).toBe(2 * estimate + 128);
    const [usualAmount = 0n, ...more] = edge.ledger.amounts;
    for (const amount of more) expect(amount).toBeGreaterThan(usualAmount);
  });

  it('changes nothing where it covers the request', async () => {
    await edge.chat(BODY, { 'x-max-cost-usd': '1' });
    expect(edge.router.requests[0]?.maxOutputTokens).toBe(100);
  });

  it('refuses a request whose input and one token cost more, without a hold', async () => {
    const response = await edge.chat(BODY, { 'x-max-cost-usd': '0.000001' });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).not.toBe('true');
    expect(await errorOf(response)).toMatchObject({
      code: 'insufficient_credits',
      message: expect.stringContaining('x-max-cost-usd'),
      metadata: {
        scope: 'request',
        limit_type: 'max_cost',
        limit: 0.000001,
        max_affordable_output_tokens: 0,
      },
    });
    expect(edge.ledger.holdCalls).toBe(0);
    expect(edge.limiter.outstanding.size).toBe(0);
    expect(edge.router.requests).toEqual([]);
  });
});

describe('x-run-id', () => {
  const RUN = { 'x-run-id': 'agent/42', 'x-run-budget-usd': '2.50' };
  const RUN_ID = `${grant().keyId}/agent/42`;

  it('is held and recorded with the generation', async () => {
    const budget = {
      scope: BudgetScope.BUDGET_SCOPE_RUN,
      ownerId: RUN_ID,
      period: BudgetPeriod.BUDGET_PERIOD_TOTAL,
      amountNanoUsd: 2_500_000_000n,
    };
    expect(await whileRunning(RUN)).toMatchObject({
      holds: [{ runId: RUN_ID, budgets: [budget] }],
      request: { runId: RUN_ID },
    });
  });

  it('belongs to the project of the key, or to the key where it has none', async () => {
    const owners: string[] = [];
    edge.router.script = async function* () {
      owners.push(...held().map(({ runId }) => runId ?? ''));
      throw new Error('enough');
    };
    for (const [keyId, projectId] of [
      ['key_1'],
      ['key_2'],
      ['key_3', 'proj-1'],
      ['key_4', 'proj-1'],
    ] as const) {
      edge.keys.set(`sk-gw-${keyId}`, grant({ keyId, projectId }));
      await edge.chat(BODY, { ...RUN, authorization: `Bearer sk-gw-${keyId}` });
    }
    expect(owners).toEqual(['key_1/agent/42', 'key_2/agent/42', 'proj-1/agent/42', 'proj-1/agent/42']);
  });

  it('needs no budget in later requests', async () => {
    const seen = await whileRunning({ 'x-run-id': 'agent/42' });
    expect(seen?.holds).toMatchObject([{ runId: RUN_ID, budgets: [] }]);
  });

  it('is refused with the rest of its budget once that is too small', async () => {
    edge.ledger.refuse = {
      $case: 'budgetExceeded',
      value: {
        scope: BudgetScope.BUDGET_SCOPE_RUN,
        period: BudgetPeriod.BUDGET_PERIOD_TOTAL,
        limitNanoUsd: 2_500_000_000n,
        usedNanoUsd: 2_499_000_000n,
        heldNanoUsd: 0n,
        estimatedCostNanoUsd: 1_530_000n,
      },
    };
    const response = await edge.chat(BODY, RUN);
    expect(response.status).toBe(402);
    expect(response.headers.get('x-should-retry')).not.toBe('true');
    const error = await errorOf(response);
    expect(error).toMatchObject({
      code: 'insufficient_credits',
      message: expect.stringContaining('budget of $2.5 of this run'),
      metadata: {
        scope: 'run',
        limit_type: 'run_budget',
        limit: 2.5,
        available: 0.001,
        held: 0,
        estimated_cost: 0.00153,
        currency: 'USD',
      },
    });
    const affordable = Number(error.metadata['max_affordable_output_tokens']);
    expect(affordable).toBeGreaterThan(0);
    expect(affordable).toBeLessThan(100);
    expect(edge.limiter.outstanding.size).toBe(0);
  });

  it('is invalid without a budget in its first request', async () => {
    edge.ledger.refuse = { $case: 'unknownRun', value: {} };
    const response = await edge.chat(BODY, { 'x-run-id': 'agent/42' });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param: 'x-run-budget-usd' });
    expect(edge.limiter.outstanding.size).toBe(0);
  });
});

describe('the project of a key', () => {
  const budgets = [
    {
      scope: BudgetScope.BUDGET_SCOPE_PROJECT,
      ownerId: 'proj-1',
      period: BudgetPeriod.BUDGET_PERIOD_DAY,
      amountNanoUsd: 5n,
    },
  ];

  it('is held with the budgets of the grant and recorded with the generation', async () => {
    edge.keys.set(KEY, grant({ projectId: 'proj-1', budgets }));
    expect(await whileRunning()).toMatchObject({
      holds: [{ projectId: 'proj-1', budgets }],
      request: { projectId: 'proj-1' },
    });
  });

  it('is absent from requests of a key without one', async () => {
    const seen = await whileRunning();
    expect(seen?.holds).toHaveLength(1);
    expect(seen?.holds[0]?.projectId).toBeUndefined();
    expect(seen?.request.projectId).toBeUndefined();
  });

  it.each([
    ['daily_budget', BudgetPeriod.BUDGET_PERIOD_DAY, 429, 'daily_budget_exceeded'],
    ['weekly_budget', BudgetPeriod.BUDGET_PERIOD_WEEK, 402, 'insufficient_credits'],
    ['monthly_budget', BudgetPeriod.BUDGET_PERIOD_MONTH, 402, 'insufficient_credits'],
    ['total_budget', BudgetPeriod.BUDGET_PERIOD_TOTAL, 402, 'insufficient_credits'],
  ])('refuses a request that its %s does not cover', async (limitType, period, status, code) => {
    edge.ledger.refuse = {
      $case: 'budgetExceeded',
      value: {
        ...{ scope: BudgetScope.BUDGET_SCOPE_PROJECT, period },
        ...{ limitNanoUsd: 2_000_000_000n, usedNanoUsd: 1_999_000_000n, heldNanoUsd: 0n },
        estimatedCostNanoUsd: 1_530_000n,
      },
    };
    const response = await edge.chat();
    expect(response.status).toBe(status);
    expect(await errorOf(response)).toMatchObject({
      code,
      message: expect.stringContaining('of this project'),
      metadata: {
        ...{ scope: 'project', limit_type: limitType, limit: 2 },
        period: budgetPeriodOf(period),
        // A total budget never resets.
        ...(period !== BudgetPeriod.BUDGET_PERIOD_TOTAL && {
          resets_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00.000Z$/),
        }),
      },
    });
  });

  it('reports when a rolling window covers a request again', async () => {
    edge.ledger.refuse = {
      $case: 'budgetExceeded',
      value: {
        ...{ scope: BudgetScope.BUDGET_SCOPE_KEY, period: BudgetPeriod.BUDGET_PERIOD_WINDOW, hours: 24 },
        ...{ limitNanoUsd: 2_000_000_000n, usedNanoUsd: 1_999_000_000n, heldNanoUsd: 0n },
        ...{ estimatedCostNanoUsd: 1_530_000n, freesUnixMs: BigInt(Date.UTC(2026, 10, 21, 15)) },
      },
    };
    const response = await edge.chat();
    expect(response.status).toBe(402);
    expect(await errorOf(response)).toMatchObject({
      code: 'insufficient_credits',
      message: expect.stringMatching(
        /^The 24-hour budget of \$2 of this API key .* Unless more is spent, the budget covers it on 2026-11-21 at 15:00 UTC\.$/,
      ),
      metadata: {
        ...{ scope: 'key', limit_type: 'window_budget', period: 'window', hours: 24 },
        resets_at: '2026-11-21T15:00:00.000Z',
      },
    });
  });
});

it.each([
  ['x-max-cost-usd', { 'x-max-cost-usd': '-1' }],
  ['x-run-budget-usd', { 'x-run-id': 'r', 'x-run-budget-usd': 'lots' }],
  ['x-run-id', { 'x-run-id': 'two words', 'x-run-budget-usd': '1' }],
  ['x-run-id', { 'x-run-budget-usd': '1' }],
])('refuses a bad %s before anything is reserved', async (param, headers) => {
  const response = await edge.chat(BODY, headers);
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({ code: 'invalid_request', param });
  expect(edge.faults.reached).not.toContain('limiter.admit');
  expect(edge.ledger.holdCalls).toBe(0);
});

it('refuses an invalid body before a bad header', async () => {
  const response = await edge.chat({ ...BODY, model: 'acme/none' }, { 'x-max-cost-usd': '-1' });
  expect(await errorOf(response)).toMatchObject({ code: 'model_not_found' });
});
