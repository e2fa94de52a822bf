import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import { GatewayError } from '@gateway/errors';
import { BODY, grant, KEY, startEdge, type TestEdge, until } from '../../testing/start-edge';

const INSUFFICIENT = {
  $case: 'insufficientCredits',
  value: { availableNanoUsd: 0n, heldNanoUsd: 0n, estimatedCostNanoUsd: 1n },
} as const;

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

const refuseWith = (scope: LimitScope) => ({
  limitType: LimitType.LIMIT_TYPE_REQUESTS,
  scope,
  limit: 1,
  retryAfterMs: 1_000,
});

async function statusOf(headers?: Record<string, string>): Promise<number> {
  const response = await edge.chat(BODY, headers);
  await response.text();
  return response.status;
}

const isNothingReserved = () => edge.limiter.outstanding.size + edge.ledger.held.size === 0;

it('holds the credit while the limits are checked', async () => {
  edge.faults.at('limiter.admit', () => until(() => edge.ledger.held.size === 1));
  expect(await statusOf()).toBe(200);
});

it('checks the limits while the credit is held', async () => {
  edge.faults.at('ledger.hold', () => until(() => edge.limiter.outstanding.size === 1));
  expect(await statusOf()).toBe(200);
});

it('voids the hold of a request that a limit refuses, and does not start it', async () => {
  edge.limiter.refuse = refuseWith(LimitScope.LIMIT_SCOPE_KEY);
  expect(await statusOf()).toBe(429);
  expect(edge.ledger.holdCalls).toBe(1);
  await until(isNothingReserved);
  expect(edge.router.requests).toEqual([]);
});

it('reports the limit where the credit is insufficient as well', async () => {
  edge.limiter.refuse = refuseWith(LimitScope.LIMIT_SCOPE_KEY);
  edge.ledger.refuse = INSUFFICIENT;
  expect(await statusOf()).toBe(429);
  expect(edge.ledger.holdCalls).toBe(1);
});

it('reports that the limits cannot be checked where the credit is insufficient as well', async () => {
  edge.ledger.refuse = INSUFFICIENT;
  edge.faults.at('limiter.admit', () => {
    throw new GatewayError('no_capacity');
  });
  expect(await statusOf()).toBe(503);
  await until(isNothingReserved);
});

it('holds no credit before admission after the limits could not be checked', async () => {
  edge.faults.at('limiter.admit', () => {
    throw new GatewayError('no_capacity');
  });
  expect(await statusOf()).toBe(503);
  edge.limiter.refuse = refuseWith(LimitScope.LIMIT_SCOPE_KEY);
  expect(await statusOf()).toBe(429);
  expect(edge.ledger.holdCalls).toBe(1);
});

describe('after a limit of the key refused a request', () => {
  beforeEach(async () => {
    edge.limiter.refuse = refuseWith(LimitScope.LIMIT_SCOPE_KEY);
    expect(await statusOf()).toBe(429);
    expect(edge.ledger.holdCalls).toBe(1);
  });

  it('its next requests hold no credit before they are admitted', async () => {
    expect(await statusOf()).toBe(429);
    expect(edge.ledger.holdCalls).toBe(1);
    edge.limiter.refuse = undefined;
    edge.faults.at('limiter.admitted', () => expect(edge.ledger.holdCalls).toBe(1));
    expect(await statusOf()).toBe(200);
    expect(edge.ledger.holdCalls).toBe(2);
  });

  it('requests of other keys are held at once', async () => {
    edge.keys.set(KEY, grant({ keyId: 'key_2' }));
    expect(await statusOf()).toBe(429);
    expect(edge.ledger.holdCalls).toBe(2);
  });
});

it('after a limit of the organization refused a request, none of its keys holds credit before admission', async () => {
  edge.limiter.refuse = refuseWith(LimitScope.LIMIT_SCOPE_ORGANIZATION);
  expect(await statusOf()).toBe(429);
  edge.keys.set(KEY, grant({ keyId: 'key_2' }));
  expect(await statusOf()).toBe(429);
  expect(edge.ledger.holdCalls).toBe(1);
  edge.keys.set(KEY, grant({ keyId: 'key_3', organizationId: 'org_2' }));
  expect(await statusOf()).toBe(429);
  expect(edge.ledger.holdCalls).toBe(2);
});

it.each<[what: string, headers: Record<string, string>]>([
  ['more than its maximum cost', { 'x-max-cost-usd': '0.000000001' }],
  ['of a run, whose budget its first hold fixes', { 'x-run-id': 'run-1', 'x-run-budget-usd': '1' }],
])('places no hold for a refused request %s', async (_what, headers) => {
  edge.limiter.refuse = refuseWith(LimitScope.LIMIT_SCOPE_KEY);
  expect(await statusOf(headers)).toBe(429);
  expect(edge.ledger.holdCalls).toBe(0);
});
