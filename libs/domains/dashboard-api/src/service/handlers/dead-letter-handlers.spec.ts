import { type AuthAdminDefinition, MemberRole } from '@gateway/contracts/auth';
import { DeadLetterOutcome, DeadLetterState, type DeadLettersDefinition } from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import type { RpcClient } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import { createDashboardApi, type DashboardApi } from '../../index';

type Admin = RpcClient<typeof AuthAdminDefinition>;
type Letters = RpcClient<typeof DeadLettersDefinition>;

const MEMBER = { id: 'mem-1', email: 'ops@example.com', role: MemberRole.MEMBER_ROLE_OPERATOR };

let api: DashboardApi;
let letters: Partial<Letters>;
let calls: [method: string, request: unknown][];

const answer = (changes: Partial<Letters>) => {
  letters = { ...letters, ...changes };
};

/** Notes each call and answers as the test says. */
function noting<Client extends object>(answers: () => Partial<Client>): Client {
  return new Proxy({} as Client, {
    get: (_target, method: string) => async (request: unknown) => {
      calls.push([method, request]);
      const handler = answers()[method as keyof Client] as ((request: unknown) => unknown) | undefined;
      if (!handler) throw new Error(`${method} is not stubbed`);
      return handler(request);
    },
  });
}

const admin = {
  authorize: async () => ({ outcome: { $case: 'allowed', value: { id: 'ses-1', member: MEMBER } } }),
  recordAudit: async () => ({ auditId: 'aud-1' }),
  completeAudit: async () => ({}),
} as unknown as Partial<Admin>;

beforeAll(async () => {
  api = createDashboardApi({
    authAdmin: noting<Admin>(() => admin),
    ledger: {} as never,
    generationReports: {} as never,
    ledgerAdmin: {} as never,
    routerAdmin: {} as never,
    inferenceRouter: {} as never,
    deadLetters: new Map([['billing-ledger', noting<Letters>(() => letters)]]),
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
  letters = {};
  calls = [];
});

async function ask(line: string, { body, signedIn = true }: { body?: unknown; signedIn?: boolean } = {}) {
  const [method = '', path = ''] = line.split(' ');
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
  const LETTER = {
    ref,
    key: 'org-1',
    state: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
    reason: 'it has neither a hold nor prices',
    attempts: 2,
    deadLetteredUnixMs: 1_764_000_000_000n,
    failedUnixMs: 1_764_000_001_000n,
    discardedUnixMs: 1_764_000_002_000n,
    discardedReason: 'a test of ours',
    payloadBytes: 5,
  };
  const VIEW = {
    group: 'billing-ledger',
    topic: 'generation.finished',
    position: '7',
    key: 'org-1',
    state: 'discarded',
    reason: 'it has neither a hold nor prices',
    attempts: 2,
    dead_lettered_at: '2025-11-24T16:00:00.000Z',
    failed_at: '2025-11-24T16:00:01.000Z',
    discarded: { at: '2025-11-24T16:00:02.000Z', reason: 'a test of ours' },
    payload_bytes: 5,
  };
  const auditCalls = () => calls.filter(([method]) => /Audit|DeadLetter/.test(method));

  it('are counted by group', async () => {
    const group = { group: ref.group, topic: ref.topic, waiting: 1, redelivering: 0, discarded: 2 };
    answer({ listGroups: async () => ({ groups: [group] }) });
    expect((await ask('GET /api/dead-letters')).json).toEqual({ groups: [group] });
  });

  it('are listed by state and page', async () => {
    answer({ listDeadLetters: async () => ({ letters: [LETTER], nextPageToken: '7' }) });
    const { json } = await ask(`GET ${path}?state=discarded&page_size=10&page_token=9`);
    expect(json).toEqual({ data: [VIEW], next_page_token: '7' });
    expect(calls.at(-1)?.[1]).toEqual({
      group: ref.group,
      topic: ref.topic,
      state: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
      pageSize: 10,
      pageToken: '9',
    });
  });

  it('are shown with their event, or with the beginning of what cannot be read', async () => {
    const headers = { traceparent: '00' };
    const whole = { letter: LETTER, headers, payloadJson: undefined, payload: undefined };
    answer({
      getDeadLetter: async () => ({ letter: { ...whole, payloadJson: '{"generation_id":"gen-1"}' } }),
    });
    expect((await ask(`GET ${path}/7`)).json).toEqual({
      letter: { ...VIEW, headers, payload: { generation_id: 'gen-1' }, payload_base64: null },
    });
    answer({ getDeadLetter: async () => ({ letter: { ...whole, payload: Buffer.from([255, 0]) } }) });
    expect((await ask(`GET ${path}/7`)).json).toMatchObject({
      letter: { payload: null, payload_base64: '/wA=' },
    });
  });

  it.each([
    ['redeliver', {}, {}],
    ['discard', { reason: ' a test of ours ' }, { reason: 'a test of ours' }],
  ])('to %s one is audited before and after', async (verb, body, details) => {
    const done = async () => ({ outcome: DeadLetterOutcome.DEAD_LETTER_OUTCOME_DONE });
    answer({ redeliverDeadLetter: done, discardDeadLetter: done });
    const { status } = await ask(`POST ${path}/7/${verb}`, { body });
    expect(status).toBe(204);
    expect(auditCalls()).toEqual([
      [
        'recordAudit',
        {
          actor: { id: 'mem-1', label: 'ops@example.com', ipAddress: '127.0.0.1' },
          organizationId: undefined,
          action: `dead_letter.${verb}`,
          target: 'billing-ledger/generation.finished/7',
          detailsJson: JSON.stringify(details),
        },
      ],
      [`${verb}DeadLetter`, { ref, ...details }],
      ['completeAudit', { auditId: 'aud-1', succeeded: true }],
    ]);
  });

  it.each([
    [DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND, 404],
    [DeadLetterOutcome.DEAD_LETTER_OUTCOME_REDELIVERING, 409],
  ])('a refusal (%s) is audited as failed', async (outcome, status) => {
    answer({ discardDeadLetter: async () => ({ outcome }) });
    expect((await ask(`POST ${path}/7/discard`, { body: { reason: 'x' } })).status).toBe(status);
    expect(auditCalls().at(-1)).toEqual(['completeAudit', { auditId: 'aud-1', succeeded: false }]);
  });

  it('what nobody knows the outcome of stays "started"', async () => {
    answer({
      redeliverDeadLetter: async () => {
        throw new GatewayError('no_capacity');
      },
    });
    expect((await ask(`POST ${path}/7/redeliver`, { body: {} })).status).toBe(503);
    expect(auditCalls().map(([method]) => method)).toEqual(['recordAudit', 'redeliverDeadLetter']);
  });

  it('of unknown groups, odd positions and without a reason are refused, unaudited', async () => {
    expect((await ask('GET /api/dead-letters/nobody/generation.finished')).status).toBe(404);
    expect((await ask(`GET ${path}/x`)).status).toBe(404);
    expect((await ask(`POST ${path}/${'9'.repeat(19)}/redeliver`, { body: {} })).status).toBe(404);
    expect((await ask(`POST ${path}/7/discard`, { body: { reason: ' ' } })).status).toBe(400);
    expect((await ask(`GET ${path}?state=lost`)).status).toBe(400);
    expect(auditCalls()).toEqual([]);
  });

  it('are for nobody who is not signed in', async () => {
    expect((await ask(`POST ${path}/7/redeliver`, { body: {}, signedIn: false })).status).toBe(401);
  });
});
