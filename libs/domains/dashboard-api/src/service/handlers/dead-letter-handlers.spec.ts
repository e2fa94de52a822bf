import type { AdminClient } from '@gateway/admin-calls';
import { DeadLetterOutcome, DeadLetterState, type DeadLettersDefinition } from '@gateway/contracts/events';
import { nameOf, parts, type Endpoint, type JsonOf } from '@gateway/dashboard-contract';
import type { RpcClient } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import { createDashboardApi, type DashboardApi } from '../../index';

type DeadLetters = RpcClient<typeof DeadLettersDefinition>;

const SESSION: JsonOf<typeof parts.authorize> = {
  session_id: 'ses-1',
  member: { id: 'mem-1', email: 'ops@example.com', name: '', role: 'operator' },
  organization_role: null,
};

let api: DashboardApi;
let deadLetters: Partial<DeadLetters>;
let calls: [method: string, request: unknown][];

const stub = (changes: Partial<DeadLetters>) => {
  deadLetters = { ...deadLetters, ...changes };
};

/** Records each call and runs the test's handler. */
function recording<Client extends object>(handlers: () => Partial<Client>): Client {
  return new Proxy({} as Client, {
    get: (_target, method: string) => async (request: unknown) => {
      calls.push([method, request]);
      const handler = handlers()[method as keyof Client] as ((request: unknown) => unknown) | undefined;
      if (!handler) throw new Error(`${method} is not stubbed`);
      return handler(request);
    },
  });
}

const auth = {
  call: async (endpoint: Endpoint) => {
    calls.push([endpoint === parts.authorize ? 'authorize' : nameOf(endpoint), undefined]);
    return SESSION;
  },
} as unknown as AdminClient;

beforeAll(async () => {
  api = createDashboardApi({
    owners: { auth } as never,
    inferenceRouter: {} as never,
    auditLogs: [],
    deadLetters: new Map([['billing-ledger', recording<DeadLetters>(() => deadLetters)]]),
    clock: systemClock,
    newId,
    log: createSilentLogger(),
    metrics: createMetrics({ processMetrics: false }),
    settings: { host: '127.0.0.1', port: 0 },
  });
  await api.start();
});
afterAll(() => api.stop());
beforeEach(() => {
  deadLetters = {};
  calls = [];
});

async function request(
  endpoint: string,
  { body, signedIn = true }: { body?: unknown; signedIn?: boolean } = {},
) {
  const [method = '', path = ''] = endpoint.split(' ');
  const response = await fetch(`http://127.0.0.1:${api.port()}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(signedIn ? { cookie: 'gateway_session=token' } : {}) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

describe('dead letters', () => {
  const path = '/api/dead-letters/billing-ledger/generation.finished';
  const ref = { group: 'billing-ledger', topic: 'generation.finished', position: 7n };
  const DEAD_LETTER = {
    ref,
    key: 'org-1',
    state: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
    reason: 'no hold and no prices',
    attempts: 2,
    deadLetteredUnixMs: 1_764_000_000_000n,
    failedUnixMs: 1_764_000_001_000n,
    discardedUnixMs: 1_764_000_002_000n,
    discardedReason: 'test data',
    payloadBytes: 5,
  };
  const VIEW = {
    group: 'billing-ledger',
    topic: 'generation.finished',
    position: '7',
    key: 'org-1',
    state: 'discarded',
    reason: 'no hold and no prices',
    attempts: 2,
    dead_lettered_at: '2025-11-24T16:00:00.000Z',
    failed_at: '2025-11-24T16:00:01.000Z',
    discarded: { at: '2025-11-24T16:00:02.000Z', reason: 'test data' },
    payload_bytes: 5,
  };
  const changes = () => calls.filter(([method]) => /DeadLetter$/.test(method));

  it('are counted by group', async () => {
    const group = { group: ref.group, topic: ref.topic, redelivering: 0, discarded: 2 };
    stub({ listGroups: async () => ({ groups: [{ ...group, waiting: 1 }] }) });
    expect((await request('GET /api/dead-letters')).json).toEqual({ groups: [{ ...group, pending: 1 }] });
  });

  it('are listed by state and page', async () => {
    stub({ listDeadLetters: async () => ({ deadLetters: [DEAD_LETTER], nextPageToken: '7' }) });
    const { json } = await request(`GET ${path}?state=discarded&page_size=10&page_token=9`);
    expect(json).toEqual({ data: [VIEW], next_page_token: '7' });
    expect(calls.at(-1)?.[1]).toEqual({
      group: ref.group,
      topic: ref.topic,
      state: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
      pageSize: 10,
      pageToken: '9',
    });
  });

  it('are returned with their event, or with the first bytes of one that cannot be decoded', async () => {
    const headers = { traceparent: '00' };
    const detail = { deadLetter: DEAD_LETTER, headers, payloadJson: undefined, payload: undefined };
    stub({
      getDeadLetter: async () => ({ deadLetter: { ...detail, payloadJson: '{"generation_id":"gen-1"}' } }),
    });
    expect((await request(`GET ${path}/7`)).json).toEqual({
      dead_letter: { ...VIEW, headers, payload: { generation_id: 'gen-1' }, payload_base64: null },
    });
    stub({ getDeadLetter: async () => ({ deadLetter: { ...detail, payload: Buffer.from([255, 0]) } }) });
    expect((await request(`GET ${path}/7`)).json).toMatchObject({
      dead_letter: { payload: null, payload_base64: '/wA=' },
    });
  });

  it.each([
    ['redeliver', {}, {}],
    ['discard', { reason: ' test data ' }, { reason: 'test data' }],
  ])('are changed by their own service: %s', async (verb, body, details) => {
    const done = async () => ({ outcome: DeadLetterOutcome.DEAD_LETTER_OUTCOME_DONE });
    stub({ redeliverDeadLetter: done, discardDeadLetter: done });
    const { status } = await request(`POST ${path}/7/${verb}`, { body });
    expect(status).toBe(204);
    expect(changes()).toEqual([[`${verb}DeadLetter`, { ref, ...details }]]);
  });

  it.each([
    [DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND, 404],
    [DeadLetterOutcome.DEAD_LETTER_OUTCOME_REDELIVERING, 409],
  ])('report a refusal (%s)', async (outcome, status) => {
    stub({ discardDeadLetter: async () => ({ outcome }) });
    expect((await request(`POST ${path}/7/discard`, { body: { reason: 'x' } })).status).toBe(status);
  });

  it('reject unknown groups, invalid positions and a missing reason without a change', async () => {
    expect((await request('GET /api/dead-letters/unknown/generation.finished')).status).toBe(404);
    expect((await request(`GET ${path}/x`)).status).toBe(404);
    expect((await request(`POST ${path}/${'9'.repeat(19)}/redeliver`, { body: {} })).status).toBe(404);
    expect((await request(`POST ${path}/7/discard`, { body: { reason: ' ' } })).status).toBe(400);
    expect((await request(`GET ${path}?state=lost`)).status).toBe(400);
    expect(changes()).toEqual([]);
  });

  it('need a session', async () => {
    expect((await request(`POST ${path}/7/redeliver`, { body: {}, signedIn: false })).status).toBe(401);
  });
});
