import { createAdminClient, type AdminClient } from '@gateway/admin-calls';
import { describeAccessOfEndpoints } from '@gateway/admin-calls/testing';
import { createAuditEntries } from '@gateway/audit';
import type { UnixMs } from '@gateway/base';
import type { WatchCatalogueResponse } from '@gateway/contracts/inference-router';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { applyMigrations, createPool } from '@gateway/database';
import {
  createAuditEntry,
  createTestDatabase,
  eventually,
  inProcessFor,
  TEST_OPERATOR,
} from '@gateway/test-support';
import { createPostgresSwitchStore } from '../adapters/postgres/switch-store';
import { INFERENCE_ROUTER_SCHEMA, inferenceRouterSchema } from '../adapters/postgres/sql/schema';
import { createMemorySwitchStore, type SwitchStore } from '../core/resilience/switched-off';
import { failure, helloCompletion, ScriptedProvider } from '../testing/scripted-provider';
import {
  catalogueOf,
  FixedCatalogue,
  generateRequest,
  model,
  provider,
  RouterUnderTest,
} from '../testing/router-under-test';

let first: ScriptedProvider;
let second: ScriptedProvider;
let router: RouterUnderTest;
let admin: AdminClient;

const { catalogue, disableModel, drainTarget, providerHealth } = endpoints.operator;
const catalogueOfRouter = async (client = admin) => (await client.call(catalogue)).catalogue;
const healthOf = async () => (await admin.call(providerHealth)).health;
let store: SwitchStore & { unavailable: boolean };
let disabledModelStore: SwitchStore;

beforeAll(async () => {
  first = await ScriptedProvider.start();
  second = await ScriptedProvider.start();
});
afterAll(async () => {
  await first.stop();
  await second.stop();
});
beforeEach(async () => {
  const memory = createMemorySwitchStore();
  disabledModelStore = createMemorySwitchStore();
  store = {
    unavailable: false,
    read: async () => {
      if (store.unavailable) throw new Error('the store is unavailable');
      return memory.read();
    },
    write: async (...change) => {
      if (store.unavailable) throw new Error('the store is unavailable');
      return memory.write(...change);
    },
  };
  router = await RouterUnderTest.start(
    [
      model([provider('first', first.url, { maxAttempts: 1 }), provider('second', second.url)]),
      model([provider('first', first.url)], { id: 'acme/alone' }),
    ],
    { drainStore: store, disabledModelStore, processName: 'router-1' },
  );
  admin = createAdminClient(inProcessFor(router.module.services));
});
afterEach(() => router.stop());

const drain = (drained: boolean, of = 'first') =>
  admin.call(drainTarget, {
    body: { provider: of, provider_model: 'upstream-model', drained, reason: 'repair' },
  });

it('a drained target gets no new requests: the next target gets them, or they fail with no_capacity', async () => {
  expect((await drain(true)).target).toMatchObject({
    provider: 'first',
    drained: { by: TEST_OPERATOR.label, reason: 'repair' },
  });
  first.play(helloCompletion);
  second.play(helloCompletion);
  const moved = await router.collect(generateRequest());
  expect(moved.finished?.finishReason).toBe('stop');
  expect(router.events.at(-1)?.attempts.map(({ provider: of, outcome }) => [of, outcome])).toEqual([
    ['first', 'drained'],
    ['second', 'ok'],
  ]);
  const refused = await router.collect(generateRequest({ modelId: 'acme/alone' }));
  expect(refused.error).toMatchObject({ code: 'no_capacity', providerCalled: false });
  expect(first.calls).toEqual([]);

  expect((await drain(false)).target.drained).toBeNull();
  expect((await router.collect(generateRequest({ modelId: 'acme/alone' }))).error).toBeUndefined();
});

it('a target stays drained while the store is unavailable, and changes are rejected', async () => {
  await drain(true);
  store.unavailable = true;
  await expect(drain(false)).rejects.toThrow();
  const refused = await router.collect(generateRequest({ modelId: 'acme/alone' }));
  expect(refused.error).toMatchObject({ code: 'no_capacity' });
});

it('a target that no model uses cannot be drained', async () => {
  await expect(drain(true, 'third')).rejects.toMatchObject({ code: 'not_found' });
});

it('reports the results of recent calls by target', async () => {
  first.play(failure(500));
  second.play(helloCompletion);
  await router.collect(generateRequest());
  const { instance, targets, providers } = await healthOf();
  expect(instance).toBe('router-1');
  expect(providers.map((each) => [each.name, each.calls_in_flight])).toEqual([
    ['first', 0],
    ['second', 0],
  ]);
  expect(targets).toMatchObject([
    {
      provider: 'first',
      provider_model: 'upstream-model',
      drained: null,
      breaker: 'closed',
      calls: 1,
      failures: 1,
      failures_by_kind: { failed: 1 },
      first_event: null,
      calls_in_flight: 0,
      models: ['acme/m-1', 'acme/alone'],
    },
    { provider: 'second', calls: 1, failures: 0, first_event: { p95_ms: expect.any(Number) } },
  ]);
});

it('counts a call as in flight until it ends', async () => {
  let respond: () => void = () => undefined;
  const received = new Promise<void>((resolve) => {
    first.play((response, call) => {
      respond = () => void helloCompletion(response, call);
      resolve();
    });
  });
  const running = router.collect(generateRequest());
  await received;
  const during = await healthOf();
  expect(during.targets[0]?.calls_in_flight).toBe(1);
  expect(during.providers[0]?.calls_in_flight).toBe(1);
  respond();
  await running;
  expect((await healthOf()).targets[0]?.calls_in_flight).toBe(0);
});

it('returns the catalogue with the targets of each model, but no address or key of a provider', async () => {
  const response = await catalogueOfRouter();
  expect(response.models.map(({ id, targets }) => [id, targets.length])).toEqual([
    ['acme/m-1', 2],
    ['acme/alone', 1],
  ]);
  expect(JSON.stringify(response)).not.toContain('127.0.0.1');
});

it('shows prices in dollars, and offers models without their targets unless they are disabled', async () => {
  const [shown] = (await catalogueOfRouter()).models;
  expect(shown?.prices).toEqual({
    input_usd_per_million: expect.stringMatching(/^[\d.]+$/),
    cached_input_usd_per_million: expect.any(String),
    cache_write_usd_per_million: expect.any(String),
    cache_write_1h_usd_per_million: expect.any(String),
    output_usd_per_million: expect.any(String),
    reasoning_usd_per_million: expect.any(String),
    image_usd_per_million: expect.any(String),
    tiers: [],
  });
  const offered = async () => (await admin.call(parts.models)).data;
  expect((await offered()).map(({ id }) => id)).toEqual(['acme/m-1', 'acme/alone']);
  expect((await offered())[0]).not.toHaveProperty('targets');
  await disable(true);
  expect((await offered()).map(({ id }) => id)).toEqual(['acme/m-1']);
  expect(await admin.call(parts.spool)).toEqual({ generations: 0, bytes: 0 });
});

const disable = (disabled: boolean, modelId = 'acme/alone') =>
  admin.call(disableModel, { body: { model: modelId, disabled, reason: 'wrong price' } });

it('a disabled model gets no new requests, while running ones finish, until it is enabled', async () => {
  let respond: () => void = () => undefined;
  const received = new Promise<void>((resolve) => {
    first.play((response, call) => {
      respond = () => void helloCompletion(response, call);
      resolve();
    });
  });
  const running = router.collect(generateRequest({ modelId: 'acme/alone' }));
  await received;
  expect((await disable(true)).model).toMatchObject({
    id: 'acme/alone',
    disabled: true,
    disabled_in_file: false,
    switched_off: { by: TEST_OPERATOR.label, reason: 'wrong price' },
  });
  const refused = await router.collect(generateRequest({ modelId: 'acme/alone' }));
  expect(refused.error).toMatchObject({ code: 'model_not_found' });
  respond();
  expect((await running).finished?.finishReason).toBe('stop');

  expect((await disable(false)).model).toMatchObject({ disabled: false, switched_off: null });
  first.play(helloCompletion);
  expect((await router.collect(generateRequest({ modelId: 'acme/alone' }))).error).toBeUndefined();
});

it('edges receive a disabled model at once, by a catalogue with a later version', async () => {
  const call = { signal: new AbortController().signal, metadata: {} };
  const watch = router.handlers.watchCatalogue({}, call)[Symbol.asyncIterator]();
  const next = async () => {
    const { version, models } = (await watch.next()).value as WatchCatalogueResponse;
    return { version, disabled: models.filter((one) => one.disabled).map(({ id }) => id) };
  };
  const before = await next();
  expect(before.disabled).toEqual([]);
  await disable(true);
  const after = await next();
  expect(after.disabled).toEqual(['acme/alone']);
  expect(after.version).toBeGreaterThan(before.version);
  await disable(false);
  expect((await next()).disabled).toEqual([]);
});

it('a model stays disabled over a change of the models file and over a restart', async () => {
  await disable(true);
  const models = [model([provider('first', first.url)], { id: 'acme/alone' })];
  const source = new FixedCatalogue(catalogueOf(models));
  const restarted = await RouterUnderTest.start([], { catalogue: source, disabledModelStore });
  const restartedAdmin = createAdminClient(inProcessFor(restarted.module.services));
  const disabled = async () =>
    (await catalogueOfRouter(restartedAdmin)).models.map((one) => [one.disabled, one.disabled_in_file]);
  expect(await disabled()).toEqual([[true, false]]);
  source.change(catalogueOf(models, 2));
  expect(await disabled()).toEqual([[true, false]]);
  await restarted.stop();
});

it('every router applies a disabled model', async () => {
  const models = [model([provider('first', first.url)], { id: 'acme/alone' })];
  const other = await RouterUnderTest.start(models, { disabledModelStore });
  await disable(true);
  const otherAdmin = createAdminClient(inProcessFor(other.module.services));
  await eventually('the other router disables the model', async () => {
    const { models: known } = await catalogueOfRouter(otherAdmin);
    return known.every((one) => one.disabled) || undefined;
  });
  await other.stop();
});

it('a model that the models file disables stays disabled, and an unknown model cannot be disabled', async () => {
  const inFile = await RouterUnderTest.start([model([], { id: 'acme/off', disabled: true })]);
  const client = createAdminClient(inProcessFor(inFile.module.services));
  const body = { model: 'acme/off', disabled: false, reason: 'x' };
  expect((await client.call(disableModel, { body })).model).toMatchObject({
    ...{ disabled: true, disabled_in_file: true, switched_off: null },
  });
  await inFile.stop();
  await expect(disable(true, 'acme/none')).rejects.toMatchObject({ code: 'not_found' });
});

describeAccessOfEndpoints('inference-router', () => router.module.services);

describe.each(['drained_targets', 'disabled_models'] as const)('%s in PostgreSQL', (table) => {
  it('are shared, and keep the entry of the first operator', async () => {
    const database = await createTestDatabase();
    const pool = createPool({
      url: database.url,
      schema: INFERENCE_ROUTER_SCHEMA,
      applicationName: 't',
      maxConnections: 2,
    });
    await applyMigrations(pool, inferenceRouterSchema);
    const [one, other] = [createPostgresSwitchStore(pool, table), createPostgresSwitchStore(pool, table)];
    const drained = { since: 5 as UnixMs, by: 'ops', reason: 'repair' };
    await one.write('p/m', drained, createAuditEntry('first drain'));
    await other.write('p/m', { ...drained, by: 'second' }, createAuditEntry('second drain'));
    expect([...(await other.read())]).toEqual([['p/m', drained]]);
    await other.write('p/m', undefined, createAuditEntry('first end'));
    await other.write('p/m', undefined, createAuditEntry('second end'));
    expect([...(await one.read())]).toEqual([]);
    const entries = await createAuditEntries(pool, INFERENCE_ROUTER_SCHEMA).list(
      {},
      { limit: 10, before: undefined },
    );
    expect(entries.map(({ action }) => action)).toEqual(['first end', 'first drain']);
    await pool.end();
    await database.drop();
  });
});
