import { GatewayError } from '@gateway/errors';
import { BODY, startEdge, type TestEdge, until } from '../../testing/start-edge';

/**
 * Injects a fault at every step of a request in turn: a lost response, a bug, a
 * client that disconnects. In every case no slot, hold or unfinished claim may
 * remain, and no failed request may be charged.
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
  'has a bug': () => {
    throw new Error('a bug');
  },
} as const;

const STEPS = [
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

function isNothingReserved(): boolean {
  const unfinishedClaims = [...edge.ledger.claims.values()].filter((claim) => !claim.responseJson);
  return edge.limiter.outstanding.size + edge.ledger.held.size + unfinishedClaims.length === 0;
}

async function inFlight(): Promise<number> {
  const text = await edge.metrics.getSingleMetricAsString('gateway_edge_proxy_requests_in_flight');
  return Number(/^gateway_edge_proxy_requests_in_flight (\d+)/m.exec(text)?.[1]);
}

it('reaches every step that fails below', async () => {
  await (await edge.chat(BODY, { 'idempotency-key': 'k' })).text();
  edge.ledger.refuse = {
    $case: 'insufficientCredits',
    value: { availableNanoUsd: 0n, heldNanoUsd: 0n, estimatedCostNanoUsd: 1n },
  };
  await (await edge.chat(BODY, { 'idempotency-key': 'refused' })).text();
  edge.ledger.refuse = undefined;
  edge.faults.at('router.generate', FAULTS['has no capacity']);
  await (await edge.chat()).text();
  expect(new Set(edge.faults.reached)).toEqual(new Set(STEPS));
});

describe.each(Object.entries(REQUESTS))('%s leaves nothing reserved', (_name, { body, headers }) => {
  describe.each(Object.entries(FAULTS))('when a service %s', (_fault, happen) => {
    it.each(STEPS)('at %s', async (step) => {
      edge.faults.at(step, happen);
      // Releases happen only after a failure, which is injected first.
      const isRelease = step.startsWith('ledger.void') || step === 'ledger.release';
      if (isRelease) edge.faults.at('router.generate', FAULTS['has no capacity']);
      const response = await edge.chat(body, headers);
      const text = await response.text();
      if (response.status !== 200) expect(text).toContain('"error":{"message":');
      await until(isNothingReserved);
      expect(await inFlight()).toBe(0);
      // A retry succeeds.
      const again = await edge.chat(body, headers);
      await again.text();
      expect(again.status).toBe(200);
      await until(isNothingReserved);
    });
  });

  it.each(STEPS)('when the client disconnects at %s', async (step) => {
    const client = new AbortController();
    // The slot is released while the last bytes are sent: the response may end before the server notices.
    const statuses = step === 'limiter.finished' ? /"status":(?:499|200)/ : /"status":499/;
    const isLogged = () => edge.logLines.some((line) => statuses.test(line));
    const isRelease = step.startsWith('ledger.void') || step === 'ledger.release';
    if (isRelease) edge.faults.at('router.generate', FAULTS['has no capacity']);
    let isDisconnected = false;
    edge.faults.at(step, async () => {
      isDisconnected = true;
      client.abort();
      // Waits until the server has noticed; the service then responds normally.
      await until(isLogged);
    });
    await edge
      .chat(body, headers, client.signal)
      .then((response) => response.text())
      .catch(ignore);
    await until(isNothingReserved);
    const hasRun = isDisconnected || edge.faults.reached.length > 0;
    expect(hasRun).toBe(true);
    if (isDisconnected) await until(isLogged);
  });
});

it('releases the request and tokens of a request that the ledger refused', async () => {
  edge.ledger.refuse = {
    $case: 'insufficientCredits',
    value: { availableNanoUsd: 0n, heldNanoUsd: 0n, estimatedCostNanoUsd: 1n },
  };
  expect((await edge.chat()).status).toBe(402);
  expect(edge.limiter.returned).toBe(1);
  expect(edge.limiter.usedTokens).toEqual([]);
});

it('frees the slot before the response ends, so that a client with one slot can send its next request', async () => {
  for (const stream of [false, true]) {
    await (await edge.chat({ ...BODY, stream })).text();
    expect(edge.limiter.outstanding.size).toBe(0);
  }
});

function ignore(): void {}
