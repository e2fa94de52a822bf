import { GatewayError } from '@gateway/errors';
import { BODY, startEdge, type TestEdge, until } from '../../testing/start-edge';

/**
 * Every moment of a request is made to fail in turn: an answer that is lost, a
 * bug, a caller that cancels. Whatever happens, no slot, no hold and no
 * unfinished claim may stay, and no failed request may be charged.
 */
const REQUESTS = {
  'a completion': { body: BODY, headers: {} },
  'a stream': { body: { ...BODY, stream: true }, headers: {} },
  'a completion with an Idempotency-Key': { body: BODY, headers: { 'idempotency-key': 'k' } },
  'a stream with an Idempotency-Key': {
    body: { ...BODY, stream: true },
    headers: { 'idempotency-key': 'k' },
  },
} as const;

const FAULTS = {
  'has no capacity': () => {
    throw new GatewayError('no_capacity');
  },
  'runs into a bug': () => {
    throw new Error('a bug');
  },
} as const;

const MOMENTS = [
  'keys.lookup',
  'tokens.count',
  'ledger.claim',
  'ledger.claimed',
  'limiter.admit',
  'limiter.admitted',
  'ledger.hold',
  'ledger.held',
  'router.generate',
  'router.message',
  'limiter.finish',
  'limiter.finished',
  'ledger.void',
  'ledger.voided',
  'ledger.release',
] as const;

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

function isNothingLeft(): boolean {
  const unfinishedClaims = [...edge.ledger.claims.values()].filter((claim) => !claim.responseJson);
  return edge.limiter.outstanding.size + edge.ledger.held.size + unfinishedClaims.length === 0;
}

async function inFlight(): Promise<number> {
  const text = await edge.metrics.getSingleMetricAsString('gateway_edge_proxy_requests_in_flight');
  return Number(/^gateway_edge_proxy_requests_in_flight (\d+)/m.exec(text)?.[1]);
}

it('a request that goes well passes every moment that is made to fail below', async () => {
  await (await edge.chat(BODY, { 'idempotency-key': 'k' })).text();
  edge.ledger.refuse = {
    $case: 'insufficientCredits',
    value: { availableNanoUsd: 0n, estimatedCostNanoUsd: 1n },
  };
  await (await edge.chat(BODY, { 'idempotency-key': 'refused' })).text();
  edge.ledger.refuse = undefined;
  edge.faults.at('router.generate', FAULTS['has no capacity']);
  await (await edge.chat()).text();
  expect(new Set(edge.faults.reached)).toEqual(new Set(MOMENTS));
});

describe.each(Object.entries(REQUESTS))('%s leaves nothing behind', (_name, { body, headers }) => {
  describe.each(Object.entries(FAULTS))('when a service %s', (_fault, happen) => {
    it.each(MOMENTS)('at %s', async (moment) => {
      edge.faults.at(moment, happen);
      // Releasing happens only after a failure, so that is brought about first.
      const givesBack = moment.startsWith('ledger.void') || moment === 'ledger.release';
      if (givesBack) edge.faults.at('router.generate', FAULTS['has no capacity']);
      const response = await edge.chat(body, headers);
      const text = await response.text();
      if (response.status !== 200) expect(text).toContain('"error":{"message":');
      await until(isNothingLeft);
      expect(await inFlight()).toBe(0);
      // The caller may simply try again.
      const again = await edge.chat(body, headers);
      await again.text();
      expect(again.status).toBe(200);
      await until(isNothingLeft);
    });
  });

  it.each(MOMENTS)('when the caller cancels at %s', async (moment) => {
    const caller = new AbortController();
    const givesBack = moment.startsWith('ledger.void') || moment === 'ledger.release';
    if (givesBack) edge.faults.at('router.generate', FAULTS['has no capacity']);
    let hungUp = false;
    edge.faults.at(moment, async () => {
      hungUp = true;
      caller.abort();
      // Until the server has noticed; then the service answers as if nothing were.
      await until(() => edge.logLines.some((line) => line.includes('"status":499')));
    });
    await edge
      .chat(body, headers, caller.signal)
      .then((response) => response.text())
      .catch(ignore);
    await until(isNothingLeft);
    const isPassed = hungUp || edge.faults.reached.length > 0;
    expect(isPassed).toBe(true);
    if (hungUp) await until(() => edge.logLines.some((line) => line.includes('"status":499')));
  });
});

it('a request that was refused by the ledger has its request and tokens released', async () => {
  edge.ledger.refuse = {
    $case: 'insufficientCredits',
    value: { availableNanoUsd: 0n, estimatedCostNanoUsd: 1n },
  };
  expect((await edge.chat()).status).toBe(402);
  expect(edge.limiter.returned).toBe(1);
  expect(edge.limiter.usedTokens).toEqual([]);
});

it('the slot is free before the answer ends, so that a caller with one slot is never too early', async () => {
  for (const stream of [false, true]) {
    await (await edge.chat({ ...BODY, stream })).text();
    expect(edge.limiter.outstanding.size).toBe(0);
  }
});

function ignore(): void {}
