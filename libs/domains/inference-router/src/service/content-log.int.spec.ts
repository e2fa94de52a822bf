import { createAdminClient } from '@gateway/admin-calls';
import { createAuditEntries } from '@gateway/audit';
import type { ActingPerson } from '@gateway/actors';
import { DAY_MS, ORGANIZATION_ROLES, type Clock, type UnixMs } from '@gateway/base';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { applyMigrations, createPool } from '@gateway/database';
import { GatewayError } from '@gateway/errors';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { createEncryptionKey, createSecretCipher } from '@gateway/secrets';
import {
  createTestDatabase,
  eventually,
  inProcessFor,
  TEST_OPERATOR,
  type TestDatabase,
} from '@gateway/test-support';
import type { Pool } from 'pg';
import { createPostgresContentStore } from '../adapters/postgres/content-store';
import { INFERENCE_ROUTER_SCHEMA, inferenceRouterSchema } from '../adapters/postgres/sql/schema';
import type { ContentStore } from '../core/content-log/ports';
import { deferred, generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';
import {
  chunk,
  completion,
  failure,
  json,
  ScriptedProvider,
  sse,
  startStream,
  stream,
  usageChunk,
} from '../testing/scripted-provider';
import { contentOf } from '../core/content-log/content';
import { createContentRecorder } from './content-recorder';
import { toGenerationRequest } from './messages';

const MARKER = 'MARKER-in-the-prompt';
const OUTPUT = 'MARKER-in-the-response';
const ORGANIZATION = 'org-1';
const MAX_BYTES = 4_096;
const MAX_DAYS = 30;
const PNG = `data:image/png;base64,${'iVBORw0KGgo'.repeat(40)}`;

let upstream: ScriptedProvider;
let database: TestDatabase;
let pool: Pool;
let secretsKey: string;
let now: number;
let router: RouterUnderTest;
let store: ContentStore;

const clock: Clock = { now: () => now as UnixMs };
const log = createSilentLogger();
const owner: ActingPerson = {
  ...{ id: 'mem-owner', label: 'owner@example.com', ipAddress: '192.0.2.7', sessionId: 'ses-1' },
  ...{ memberRole: 'member', organization: { id: ORGANIZATION, role: 'owner' } },
};

const storeWith = (keys: readonly string[], maxRetentionDays = MAX_DAYS) =>
  createPostgresContentStore({ pool, cipher: createSecretCipher(keys), clock, maxRetentionDays, log });
const clientFor = (actor: unknown, under = router) =>
  createAdminClient(inProcessFor(under.module.services, () => actor as ActingPerson));
const inOrganization = (organization_id = ORGANIZATION) => ({ params: { organization_id } });
const ofGeneration = (generation_id: string) => ({
  params: { organization_id: ORGANIZATION, generation_id },
  body: {},
});

async function startRouter(contentStore: ContentStore | undefined): Promise<RouterUnderTest> {
  return RouterUnderTest.start([model([provider('acme', upstream.url, { maxAttempts: 1 })])], {
    ...{ contentStore, clock },
    contentLimits: { maxRetentionDays: MAX_DAYS, maxBytes: MAX_BYTES },
    auditEntries: createAuditEntries(pool, INFERENCE_ROUTER_SCHEMA),
  });
}

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
});
afterAll(() => upstream.stop());
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({
    url: database.url,
    schema: INFERENCE_ROUTER_SCHEMA,
    applicationName: 't',
    maxConnections: 4,
  });
  await applyMigrations(pool, inferenceRouterSchema);
  secretsKey = createEncryptionKey();
  now = Date.now();
  store = storeWith([secretsKey]);
  router = await startRouter(store);
  upstream.play(json(completion({ content: OUTPUT }, usage)));
});
afterEach(async () => {
  await router.stop();
  await pool.end();
  await database.drop();
});

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const turnOn = (retentionDays = 7, organizationId = ORGANIZATION) =>
  clientFor({ ...owner, organization: { id: organizationId, role: 'owner' } }).call(
    endpoints.contentLog.set,
    {
      ...inOrganization(organizationId),
      body: { enabled: true, retention_days: retentionDays },
    },
  );
const turnOff = (erase: boolean) =>
  clientFor(owner).call(endpoints.contentLog.set, {
    ...inOrganization(),
    body: { enabled: false, retention_days: 7, erase },
  });
const isNotFound = (error: unknown) => error instanceof DashboardError && error.code === 'not_found';

const saying = (content: unknown = MARKER) =>
  Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
let ids = 0;
/** A request that is admitted now. */
const request = (changes: Partial<GenerateRequest> = {}) =>
  generateRequest({
    ...{ generationId: `gen-content-${(ids += 1)}`, organizationId: ORGANIZATION },
    ...{ createdUnixMs: BigInt(now), bodyJson: saying(), ...changes },
  });
async function run(changes: Partial<GenerateRequest> = {}): Promise<string> {
  const sent = request(changes);
  await router.collect(sent);
  return sent.generationId;
}

/** Undefined for content that is not stored. */
const read = (generationId: string, actor: unknown = owner) =>
  clientFor(actor)
    .call(endpoints.contentLog.read, ofGeneration(generationId))
    .then(
      ({ content }) => content,
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      },
    );
const isOn = async () =>
  (await clientFor(owner).call(endpoints.contentLog.get, inOrganization())).content_log.enabled;
const readSoon = (generationId: string) =>
  eventually(`the content of ${generationId}`, () => read(generationId));
const counted = (result: string) => router.metric('gateway_inference_router_contents_total', { result });
/** Waits until the router has stored or dropped this many. */
const settled = (contents: number) =>
  eventually('the queue is empty', async () => {
    const results = await Promise.all(['stored', 'not_stored', 'dropped'].map(counted));
    return results.reduce((sum, result) => sum + result, 0) === contents || undefined;
  });

async function audited(): Promise<readonly { action: string; target: string; actor_label: string }[]> {
  const { rows } = await pool.query<{ action: string; target: string; actor_label: string }>(
    'select action, target, actor_label from audit_entries order by id',
  );
  return rows;
}

/** Every row of every table, as text. */
async function everything(): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = $1',
    [INFERENCE_ROUTER_SCHEMA],
  );
  const rows = await Promise.all(
    tables.map(({ name }) => pool.query<{ row: string }>(`select t::text as row from ${name} t`)),
  );
  return rows.flatMap((result) => result.rows.map(({ row }) => row)).join('\n');
}
const rowsStored = async () =>
  (await pool.query<{ count: bigint }>('select count(*) as count from generation_contents')).rows[0]?.count;

describe('an organization that has it off', () => {
  it('by default leaves no trace of prompt and response, in no table and no event', async () => {
    await turnOn(7, 'org-other');
    await run();
    await run({ stream: true });
    await run({ organizationId: 'org-other' });
    await settled(1);
    expect(await rowsStored()).toBe(1n);
    const traces = (await everything()) + JSON.stringify(router.events, bigintsAsText);
    expect(router.events).toHaveLength(3);
    expect(traces).toContain('gen-content');
    expect(traces).not.toMatch(/MARKER/);
    // Encodings of protobuf and the database.
    expect(traces).not.toContain(Buffer.from(MARKER).toString('base64').slice(0, -4));
    expect(traces).not.toContain(Buffer.from(MARKER).toString('hex'));
  });

  it('stores nothing of a generation that runs while it is turned off, nor of one from before it was turned on', async () => {
    await turnOn();
    const earlier = request({ createdUnixMs: BigInt(now - 1) });
    await router.collect(earlier);
    const running = deferred();
    const ending = deferred();
    upstream.play(async (response, call) => {
      running.resolve();
      await ending.promise;
      json(completion({ content: OUTPUT }, usage))(response, call);
    });
    const late = request();
    const ended = router.collect(late);
    await running.promise;
    // In another router: this one assumes that it is on.
    await store.set({ organizationId: ORGANIZATION, enabled: false, retentionDays: 7, erase: false }, () => ({
      ...auditStub,
    }));
    ending.resolve();
    await ended;
    await settled(2);
    expect(await counted('not_stored')).toBe(2);
    expect(await rowsStored()).toBe(0n);
    expect(router.events).toHaveLength(2);
  });

  it('stores nothing of an organization that is turned off while content is stored', async () => {
    await turnOn();
    const off = { organizationId: ORGANIZATION, enabled: false, retentionDays: 7, erase: false };
    const racing = createPostgresContentStore({
      ...{ cipher: createSecretCipher([secretsKey]), clock, maxRetentionDays: MAX_DAYS, log },
      pool: turningOff(pool, () => store.set(off, () => auditStub)),
    });
    const content = contentOf(toGenerationRequest(request()), undefined, MAX_BYTES);
    expect(await racing.store([content])).toBe(0);
    expect(await rowsStored()).toBe(0n);
  });
});

/** A pool that runs the change after its first query. */
function turningOff(of: Pool, change: () => Promise<unknown>): Pool {
  let queries = 0;
  const query = async (text: string, values: unknown[]) => {
    const result = await of.query(text, values);
    if ((queries += 1) === 1) await change();
    return result;
  };
  return { query } as unknown as Pool;
}

const auditStub = {
  ...{ id: 'aud-other-router', createdAt: 0 as UnixMs, actor: TEST_OPERATOR },
  ...{ organizationId: ORGANIZATION, action: 'content_log.set', target: ORGANIZATION, details: {} },
};

it('keeps the settings that a change leaves out, and audits what it changes', async () => {
  const set = async (body: { enabled?: boolean; retention_days?: number }) => {
    const changed = await clientFor(owner).call(endpoints.contentLog.set, { ...inOrganization(), body });
    return [changed.content_log.enabled, changed.content_log.retention_days];
  };
  expect(await set({})).toEqual([false, 7]);
  expect(await set({ retention_days: 5 })).toEqual([false, 5]);
  expect(await set({ enabled: true })).toEqual([true, 5]);
  await Promise.all([set({ enabled: false }), set({ retention_days: 6 })]);
  expect(await set({})).toEqual([false, 6]);
  const { rows } = await pool.query(`select 1 from audit_entries where action = 'content_log.set'`);
  expect(rows).toHaveLength(4);
});

describe('an organization that has it on', () => {
  beforeEach(() => turnOn());

  it('can read prompt and response, which are encrypted where they are stored', async () => {
    const generationId = await run({ maxOutputTokens: 70 });
    const content = await readSoon(generationId);
    expect(content).toMatchObject({
      ...{ request_cut: false, response_cut: false },
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + 7 * DAY_MS).toISOString(),
    });
    expect(JSON.parse(content.request)).toEqual({
      ...{ model: 'acme/m-1', stream: false, max_tokens: 70, n: 1 },
      messages: [{ role: 'user', content: MARKER }],
    });
    expect(JSON.parse(content.response ?? '')).toMatchObject({
      id: generationId,
      choices: [{ message: { content: OUTPUT }, finish_reason: 'stop' }],
    });
    expect(await everything()).toContain(generationId);
    expect(await everything()).not.toMatch(/MARKER/);
  });

  it('stores the text, reasoning and tool calls of a stream', async () => {
    const call = {
      index: 0,
      id: 'call-1',
      type: 'function',
      function: { name: 'look_up', arguments: '{"a"' },
    };
    upstream.play(
      stream(
        chunk({ role: 'assistant', reasoning_content: 'Thinking.' }),
        chunk({ content: OUTPUT }),
        chunk({ tool_calls: [call] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
        chunk({}, 'tool_calls'),
        usageChunk(9, 4),
      ),
    );
    const { response } = await readSoon(await run({ stream: true }));
    const [choice] = (JSON.parse(response ?? '') as { choices: { message: object }[] }).choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: OUTPUT,
        reasoning_content: 'Thinking.',
        tool_calls: [{ id: 'call-1', function: { name: 'look_up', arguments: '{"a":1}' } }],
      },
    });
  });

  it('stores what a client received before it disconnected', async () => {
    upstream.play((response) => {
      startStream(response);
      response.write(sse(chunk({ content: `${OUTPUT} until here` })));
    });
    const client = new AbortController();
    const sent = request({ stream: true });
    const messages = router.generate(sent, { signal: client.signal });
    await messages.next();
    client.abort();
    await messages.return?.();
    const { response } = await readSoon(sent.generationId);
    expect(JSON.parse(response ?? '')).toMatchObject({
      choices: [{ message: { content: `${OUTPUT} until here` }, finish_reason: null }],
    });
    expect(router.events).toMatchObject([{ cancelled: true }]);
  });

  it('stores every one of many that end at the same time', async () => {
    const storing = deferred();
    const original = store.store.bind(store);
    jest.spyOn(store, 'store').mockImplementationOnce(async (contents) => {
      const stored = await original(contents);
      await storing.promise;
      return stored;
    });
    const first = await run();
    const others = await Promise.all(Array.from({ length: 5 }, () => run()));
    await new Promise((resolve) => setImmediate(resolve));
    storing.resolve();
    await settled(6);
    expect(await counted('stored')).toBe(6);
    for (const id of [first, ...others]) expect(await read(id)).toBeDefined();
  });

  it('is stored although the key of another organization cannot be decrypted', async () => {
    await turnOn(7, 'org-other');
    const other = createSecretCipher([createEncryptionKey()]);
    await pool.query(`update content_logs set encrypted_key = $1 where organization_id = 'org-other'`, [
      other.encrypt(createEncryptionKey(), 'content log org-other'),
    ]);
    const contents = [ORGANIZATION, 'org-other'].map((organizationId) =>
      contentOf(toGenerationRequest(request({ organizationId })), undefined, MAX_BYTES),
    );
    expect(await store.store(contents)).toBe(1);
    expect(await read(contents[0]?.generationId ?? '')).toBeDefined();
    expect(await storeWith([createEncryptionKey(), secretsKey]).reencryptKeys()).toBe(1);
  });

  it('stores the prompt of a generation without a response', async () => {
    upstream.play(failure(503));
    const { request: stored, response } = await readSoon(await run());
    expect(stored).toContain(MARKER);
    expect(response).toBeNull();
  });

  it('cuts long texts and drops images, and marks both', async () => {
    upstream.play(json(completion({ content: 'r'.repeat(2 * MAX_BYTES) }, usage)));
    const image = { type: 'image_url', image_url: { url: PNG } };
    const long = await readSoon(await run({ bodyJson: saying('p'.repeat(2 * MAX_BYTES)) }));
    expect([long.request_cut, long.response_cut]).toEqual([true, true]);
    expect([long.request.length, long.response?.length]).toEqual([MAX_BYTES, MAX_BYTES]);
    const withImage = await readSoon(await run({ bodyJson: saying([image]) }));
    expect(withImage.request_cut).toBe(false);
    expect(withImage.request).toContain('data:image/png;base64,[440 characters removed]');
  });

  it('is read by owners only: by no other role, no operator without the role, and no token', async () => {
    const generationId = await run();
    await readSoon(generationId);
    const before = (await audited()).length;
    const withRole = (role: string) => ({ ...owner, organization: { id: ORGANIZATION, role } });
    const others = [
      ...ORGANIZATION_ROLES.filter((role) => role !== 'owner').map(withRole),
      TEST_OPERATOR,
      { ...TEST_OPERATOR, organization: { id: ORGANIZATION, role: 'admin' } },
      { ...owner, organization: { id: 'org-other', role: 'owner' } },
      ...['read', 'read_write'].flatMap((tokenAccess) =>
        (['owner', 'admin'] as const).map((role) => ({ ...withRole(role), tokenAccess })),
      ),
      { ...TEST_OPERATOR, tokenAccess: 'read_write' },
    ];
    const body = { enabled: true, retention_days: 1, erase: true };
    for (const actor of others) {
      const client = clientFor(actor);
      const attempts = await Promise.allSettled([
        client.call(endpoints.contentLog.read, ofGeneration(generationId)),
        client.call(endpoints.contentLog.erase, ofGeneration(generationId)),
        client.call(endpoints.contentLog.eraseAll, { ...inOrganization(), body: {} }),
        client.call(endpoints.contentLog.set, { ...inOrganization(), body }),
      ]);
      expect(attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason)).toEqual(
        attempts.map(() => expect.objectContaining({ name: 'RpcPermissionDenied' })),
      );
    }
    expect(await audited()).toHaveLength(before);
    const owningOperator = { ...TEST_OPERATOR, organization: { id: ORGANIZATION, role: 'owner' } };
    expect((await read(generationId, owningOperator))?.request).toContain(MARKER);
  });

  it('writes every access to the audit log in its transaction, and none that finds nothing', async () => {
    const generationId = await run();
    await readSoon(generationId);
    await read(generationId);
    expect(await read('gen-unknown')).toBeUndefined();
    const { rows } = await pool.query<{ details: unknown }>(
      `select details from audit_entries where action = 'content_log.set'`,
    );
    expect(rows[0]?.details).toEqual({ changed: { enabled: { before: false, after: true } }, erased: false });
    const entry = (action: string, target: string) => ({ action, target, actor_label: owner.label });
    expect(await audited()).toEqual([
      entry('content_log.set', ORGANIZATION),
      entry('content_log.read', generationId),
      entry('content_log.read', generationId),
    ]);
    await pool.query(`alter table audit_entries add constraint no_more check (false) not valid`);
    await expect(read(generationId)).rejects.toThrow();
    const erasing = clientFor(owner).call(endpoints.contentLog.erase, ofGeneration(generationId));
    await expect(erasing).rejects.toThrow(GatewayError);
    await expect(turnOff(true)).rejects.toThrow();
    expect(await rowsStored()).toBe(1n);
    expect(await isOn()).toBe(true);
  });

  it('erases one generation, and then all', async () => {
    const [first, second, third] = [await run(), await run(), await run()];
    await settled(3);
    const erase = (generationId: string) =>
      clientFor(owner).call(endpoints.contentLog.erase, ofGeneration(generationId));
    await erase(first);
    await expect(erase(first)).rejects.toMatchObject({ code: 'not_found' });
    expect(await read(first)).toBeUndefined();
    expect(await read(second)).toBeDefined();
    await clientFor(owner).call(endpoints.contentLog.eraseAll, { ...inOrganization(), body: {} });
    expect(await rowsStored()).toBe(0n);
    expect(await read(third)).toBeUndefined();
    expect((await audited()).map(({ action, target }) => `${action} ${target}`)).toEqual([
      `content_log.set ${ORGANIZATION}`,
      `content_log.erase ${first}`,
      `content_log.read ${second}`,
      `content_log.erase ${ORGANIZATION}`,
    ]);
    // It is still on.
    now += 2;
    expect(await readSoon(await run())).toBeDefined();
  });

  it('erases also what running generations would store, and what an interrupted erasure left', async () => {
    const running = deferred();
    const ending = deferred();
    await run();
    await settled(1);
    upstream.play(async (response, call) => {
      running.resolve();
      await ending.promise;
      json(completion({ content: OUTPUT }, usage))(response, call);
    });
    const ended = run();
    await running.promise;
    const kept = await pool.query('select * from generation_contents');
    await turnOff(true);
    ending.resolve();
    await ended;
    expect(await rowsStored()).toBe(0n);
    expect(await isOn()).toBe(false);
    const row = kept.rows[0] as Record<string, unknown>;
    await pool.query('insert into generation_contents values ($1, $2, $3, $4, $5)', Object.values(row));
    expect(await read(row['generation_id'] as string)).toBeUndefined();
    expect(await store.deleteExpired()).toBe(1);
    expect(await rowsStored()).toBe(0n);
  });

  it('deletes content when its time is over, also after the retention or its maximum is lowered', async () => {
    const generationId = await run();
    await readSoon(generationId);
    now += 7 * DAY_MS - 1;
    expect(await store.deleteExpired()).toBe(0);
    expect(await read(generationId)).toBeDefined();
    now += 2;
    expect(await read(generationId)).toBeUndefined();
    expect(await store.deleteExpired()).toBe(1);
    await turnOn(30);
    await run();
    await settled(2);
    now += 3 * DAY_MS;
    expect(await storeWith([secretsKey], 4).deleteExpired()).toBe(0);
    expect(await storeWith([secretsKey], 2).deleteExpired()).toBe(1);
    await run();
    await settled(3);
    await turnOn(1);
    now += DAY_MS + 1;
    expect(await store.deleteExpired()).toBe(1);
    expect(await rowsStored()).toBe(0n);
  });

  it('keeps the retention within the maximum, and refuses others', async () => {
    const client = clientFor(owner);
    for (const retentionDays of [0, MAX_DAYS + 1]) {
      const body = { enabled: true, retention_days: retentionDays };
      const setting = client.call(endpoints.contentLog.set, { ...inOrganization(), body });
      await expect(setting).rejects.toMatchObject({ code: 'invalid', param: 'retention_days' });
    }
    expect(await client.call(endpoints.contentLog.get, inOrganization())).toEqual({
      content_log: {
        ...{ enabled: true, has_contents: false, retention_days: 7, available: true },
        ...{ max_retention_days: MAX_DAYS, max_bytes: MAX_BYTES },
      },
    });
  });

  it('reports whether anything is stored', async () => {
    const hasContents = async () => {
      const { content_log: state } = await clientFor(owner).call(endpoints.contentLog.get, inOrganization());
      return state.has_contents;
    };
    await run();
    await settled(1);
    expect(await hasContents()).toBe(true);
    const client = clientFor(owner);
    const off = { ...inOrganization(), body: { enabled: false } };
    expect((await client.call(endpoints.contentLog.set, off)).content_log.has_contents).toBe(true);
    await client.call(endpoints.contentLog.eraseAll, inOrganization());
    expect(await hasContents()).toBe(false);
  });

  it('stays readable with a rotated secrets key', async () => {
    const generationId = await run();
    await settled(1);
    const newKey = createEncryptionKey();
    expect(await storeWith([secretsKey, newKey]).reencryptKeys()).toBe(0);
    const rotated = await startRouter(storeWith([newKey, secretsKey]));
    await rotated.stop();
    const withNewKey = await startRouter(storeWith([newKey]));
    const one = ofGeneration(generationId);
    const { content } = await clientFor(owner, withNewKey).call(endpoints.contentLog.read, one);
    await withNewKey.stop();
    expect(content.request).toContain(MARKER);
    await expect(read(generationId)).rejects.toThrow();
  });
});

describe('a failure', () => {
  it('to store content neither delays nor fails a generation, and is counted', async () => {
    await turnOn();
    const stuck = deferred();
    const storing = jest.spyOn(store, 'store').mockImplementation(async () => {
      await stuck.promise;
      throw new Error('the database is unavailable');
    });
    const { finished } = await router.collect(request());
    expect(finished).toBeDefined();
    expect(router.events).toHaveLength(1);
    await eventually('the attempt', async () => storing.mock.calls.length > 0 || undefined);
    stuck.resolve();
    await router.stop();
    expect(await counted('dropped')).toBe(1);
    router = await startRouter(store);
  });

  it('that lasts fills the queue up to its limit; what follows is dropped', async () => {
    await turnOn();
    const stuck = deferred();
    jest.spyOn(store, 'store').mockImplementation(async (contents) => {
      await stuck.promise;
      return contents.length;
    });
    const mebibyte = 1024 * 1024;
    const metrics = createMetrics({ processMetrics: false });
    const contents = async (result: string) => {
      const metric = await metrics.getSingleMetric('gateway_inference_router_contents_total')?.get();
      return metric?.values.find(({ labels }) => labels['result'] === result)?.value;
    };
    const recorder = createContentRecorder({ store, log, maxBytes: mebibyte, metrics });
    await recorder.start();
    const large = toGenerationRequest(request({ bodyJson: saying('x'.repeat(2 * mebibyte)) }));
    for (let count = 0; count < 40; count += 1) recorder.offer(large, undefined);
    await eventually('the dropped ones', async () => (await contents('dropped')) === 8 || undefined);
    stuck.resolve();
    await recorder.stop();
    expect(await contents('stored')).toBe(32);
  });
});

it('cannot be turned on without a secrets key, and everyone in the organization sees that', async () => {
  const without = await startRouter(undefined);
  const client = clientFor(owner, without);
  const body = { enabled: true, retention_days: 7 };
  const setting = client.call(endpoints.contentLog.set, { ...inOrganization(), body });
  await expect(setting).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('GATEWAY_SECRETS_KEY of inference-router'),
  });
  const member = { ...owner, organization: { id: ORGANIZATION, role: 'member' } };
  const shown = await clientFor(member, without).call(endpoints.contentLog.get, inOrganization());
  expect(shown.content_log).toMatchObject({ enabled: false, available: false });
  await without.stop();
});

function bigintsAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
