import type { HoldResult } from '@gateway/contracts/billing-ledger';
import { BudgetPeriod, BudgetScope } from '@gateway/contracts/common';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import type { UnixMs } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { RpcError } from '@gateway/rpc';
import { limits } from '../../core';
import { BODY, startEdge, until, type TestEdge } from '../../testing/start-edge';

let edge: TestEdge;
beforeEach(async () => {
  // Two hours before midnight, UTC.
  edge = await startEdge({ clock: { now: () => Date.parse('2026-11-20T22:00:00Z') as UnixMs } });
});
afterEach(() => edge.stop());

interface Envelope {
  readonly error: { readonly message: string; readonly code: string; readonly metadata: unknown };
}

it.each([
  [LimitType.LIMIT_TYPE_REQUESTS, LimitScope.LIMIT_SCOPE_KEY, 42_500, 'rpm_exceeded', 'rpm', 'key', '43'],
  [
    LimitType.LIMIT_TYPE_TOKENS,
    LimitScope.LIMIT_SCOPE_ORGANIZATION,
    500,
    'tpm_exceeded',
    'tpm',
    'organization',
    '1',
  ],
  [
    LimitType.LIMIT_TYPE_CONCURRENCY,
    LimitScope.LIMIT_SCOPE_KEY,
    1_000,
    'rpm_exceeded',
    'concurrency',
    'key',
    '1',
  ],
])('limit %s of %s is a 429', async (limitType, scope, retryAfterMs, code, name, owner, retryAfter) => {
  edge.limiter.refuse = { limitType, scope, limit: 7, retryAfterMs };
  const response = await edge.chat();
  const { error } = (await response.json()) as Envelope;
  expect(response.status).toBe(429);
  expect(error).toMatchObject({ code, metadata: { limit_type: name, scope: owner, limit: 7 } });
  expect(error.message).not.toMatch(/billing|quota/i);
  expect(response.headers.get('retry-after')).toBe(retryAfter);
  expect(response.headers.get('retry-after-ms')).toBe(String(retryAfterMs));
  expect(response.headers.get('x-should-retry')).toBeNull();
  expect(response.headers.get('x-ratelimit-limit-requests')).toBe('100');
  expect(edge.ledger.held.size).toBe(0);
});

it('reports a hold that the ledger rejects as internal_error, and leaves nothing reserved', async () => {
  edge.ledger.refuse = { $case: 'rejected', value: { reason: 'the hold was closed before' } };
  const response = await edge.chat();
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'internal_error' } });
  expect(text).not.toContain('closed before');
  expect(edge.router.requests).toEqual([]);
  expect(edge.limiter.outstanding.size).toBe(0);
});

it('402 reports the available credit, the estimated cost and the affordable tokens', async () => {
  const refuse = (availableNanoUsd: bigint): HoldResult['outcome'] => ({
    $case: 'insufficientCredits',
    value: { availableNanoUsd, heldNanoUsd: 0n, estimatedCostNanoUsd: 1_530_000n },
  });
  edge.ledger.refuse = refuse(600_000n);
  const response = await edge.chat();
  const { error } = (await response.json()) as Envelope;
  expect(response.status).toBe(402);
  expect(error).toMatchObject({
    code: 'insufficient_credits',
    type: 'insufficient_credits',
    metadata: { available: 0.0006, estimated_cost: 0.00153, currency: 'USD' },
  });
  expect(error.message).toContain('max_tokens');
  const { max_affordable_output_tokens: affordable } = error.metadata as Record<string, number>;

  // The available credit covers that many tokens, and not one more.
  edge.ledger.refuse = undefined;
  await (await edge.chat({ ...BODY, max_tokens: affordable })).text();
  await (await edge.chat({ ...BODY, max_tokens: (affordable ?? 0) + 1 })).text();
  const [, fits = 0n, tooMuch = 0n] = edge.ledger.amounts;
  expect(fits <= 600_000n).toBe(true);
  expect(tooMuch > 600_000n).toBe(true);

  edge.ledger.refuse = refuse(0n);
  const empty = (await (await edge.chat()).json()) as Envelope;
  expect(empty.error.metadata).toMatchObject({ available: 0, max_affordable_output_tokens: 0 });
});

it('returns the wait until midnight UTC for a daily budget, and advises against retries', async () => {
  const value = {
    scope: BudgetScope.BUDGET_SCOPE_KEY,
    period: BudgetPeriod.BUDGET_PERIOD_DAY,
    limitNanoUsd: 5_000_000_000n,
    usedNanoUsd: 4_999_000_000n,
    heldNanoUsd: 0n,
    estimatedCostNanoUsd: 1_530_000n,
  };
  edge.ledger.refuse = { $case: 'budgetExceeded', value };
  const response = await edge.chat();
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7200');
  expect(response.headers.get('retry-after-ms')).toBeNull();
  expect(response.headers.get('x-should-retry')).toBe('false');
  expect(await response.json()).toMatchObject({
    error: {
      code: 'daily_budget_exceeded',
      metadata: { limit_type: 'daily_budget', scope: 'key', limit: 5 },
    },
  });
  edge.ledger.refuse = {
    $case: 'budgetExceeded',
    value: { ...value, estimatedCostNanoUsd: 6_000_000_000n },
  };
  const aboveBudget = (await (await edge.chat()).json()) as Envelope;
  expect(aboveBudget.error.message).toContain('This request alone');
});

it('sends the same ids and amounts to rate-limit, the ledger and the router', async () => {
  edge.router.script = async function* (request) {
    const [hold] = edge.ledger.held.values();
    const [admission] = edge.limiter.outstanding.values();
    expect(hold).toMatchObject({
      holdId: request.generationId,
      organizationId: 'org_1',
      keyId: 'key_1',
      prices: request.prices,
      createdUnixMs: request.createdUnixMs,
      lifetimeMs: 675_000,
    });
    expect(admission).toMatchObject({
      admissionId: request.generationId,
      tokens: request.estimatedInputTokens + request.maxOutputTokens,
      organizationLimits: { requestsPerMinute: 100, tokensPerMinute: 50_000, concurrency: 10 },
    });
    expect(request).toMatchObject({
      maxOutputTokens: 100,
      n: 1,
      modelId: 'acme/m-1',
      stream: false,
      inputParts: { images: 0, estimatedImageTokens: 0, hasDefinitions: false },
    });
    expect(JSON.parse(request.bodyJson.toString())).toEqual({
      messages: [{ role: 'user', content: 'Hi' }],
    });
    yield {
      event: {
        $case: 'finished',
        value: {
          responseJson: Buffer.from('{}'),
          usage: undefined,
          exceedsEstimate: false,
          finishReason: 'stop',
          costNanoUsd: 0n,
        },
      },
    };
  };
  expect((await edge.chat()).status).toBe(200);
});

it('samples the log lines of no_capacity refusals, without a stack', async () => {
  const refuseAgain = (): never => {
    edge.faults.at('ledger.hold', refuseAgain);
    throw new GatewayError('no_capacity');
  };
  edge.faults.at('ledger.hold', refuseAgain);
  const responses = await Promise.all(Array.from({ length: 200 }, () => edge.chat()));
  expect(responses.every(({ status }) => status === 503)).toBe(true);
  const logged = edge.logLines.filter((line) => line.includes('request refused: no capacity'));
  expect(logged.length).toBeGreaterThan(0);
  // On a busy machine this takes several intervals, or the limiter responds too late as well.
  const lastMs = new Map<string, number>();
  for (const { reason, time } of logged.map((line) => JSON.parse(line) as { reason: string; time: string })) {
    const at = Date.parse(time);
    expect(at - (lastMs.get(reason) ?? -Infinity)).toBeGreaterThan(0.99 * limits.logs.refusalIntervalMs);
    lastMs.set(reason, at);
  }
  expect(logged.join()).not.toContain('stack');
});

describe('when the call to the router fails before its first message', () => {
  it.each([false, true])(
    'and did not reach it, nothing is billed and the request is not counted (stream: %s)',
    async (stream) => {
      edge.failNextGenerate(new RpcError('unreachable', 'connection refused'));
      const response = await edge.chat({ ...BODY, stream });
      expect(response.status).toBe(503);
      const { error } = (await response.json()) as Envelope;
      expect([error.code, error.message]).toEqual([
        'no_capacity',
        'No capacity right now. Retry in 10 seconds. This request was not billed.',
      ]);
      await until(() => edge.limiter.returned === 1);
      expect(edge.limiter.usedTokens).toEqual([]);
      expect(edge.ledger.held.size).toBe(0);
    },
  );

  // The generation may have started, or may still start.
  it.each([false, true])(
    'and may have reached it, the error does not say that nothing is billed (stream: %s)',
    async (stream) => {
      edge.failNextGenerate(new RpcError('unavailable', 'connection lost'));
      const response = await edge.chat({ ...BODY, stream });
      expect(response.status).toBe(500);
      const { error } = (await response.json()) as Envelope;
      expect(error.code).toBe('internal_error');
      expect(error.message).not.toContain('billed');
      await until(() => edge.limiter.usedTokens.length === 1);
      expect(edge.limiter.returned).toBe(0);
      expect(edge.ledger.held.size).toBe(0);
    },
  );
});

it('says that nothing was billed for chat completions only', async () => {
  const messageOf = async (pending: Promise<Response>): Promise<string> => {
    const response = await pending;
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    return ((await response.json()) as { error: { message: string } }).error.message;
  };
  for (const path of ['/v1/models', '/v1/credits', '/v1/usage', '/v1/generation?id=gen-1']) {
    edge.failNextLookup(new GatewayError('no_capacity'));
    expect(await messageOf(edge.get(path))).toBe('No capacity right now. Retry in 10 seconds.');
  }
  edge.failNextLookup(new GatewayError('no_capacity'));
  expect(await messageOf(edge.chat())).toBe(
    'No capacity right now. Retry in 10 seconds. This request was not billed.',
  );
});
