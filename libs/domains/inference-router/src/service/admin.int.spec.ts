import { createAuditEntries } from '@gateway/audit';
import type { UnixMs } from '@gateway/base';
import {
  InferenceRouterAdminDefinition,
  type WatchCatalogueResponse,
} from '@gateway/contracts/inference-router';
import { applyMigrations, createPool } from '@gateway/database';
import { createClient, type RpcClient } from '@gateway/rpc';
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
let admin: RpcClient<typeof InferenceRouterAdminDefinition>;
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
  admin = createClient(InferenceRouterAdminDefinition, inProcessFor(router.module.services));
});
afterEach(() => router.stop());

const drain = (drained: boolean, of = 'first') =>
  admin.setTargetDrained({
    provider: of,
    providerModel: 'upstream-model',
    drained,
    reason: 'repair',
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

  expect((await drain(false)).target?.drained).toBeUndefined();
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
  expect((await drain(true, 'third')).target).toBeUndefined();
});

it('reports the results of recent calls by target', async () => {
  first.play(failure(500));
  second.play(helloCompletion);
  await router.collect(generateRequest());
  const { observer, targets, providers } = await admin.getProviderHealth({});
  expect(observer).toBe('router-1');
  expect(providers.map(({ name, callsInFlight }) => [name, callsInFlight])).toEqual([
    ['first', 0],
    ['second', 0],
  ]);
  expect(targets).toMatchObject([
    {
      target: { provider: 'first' },
      breaker: 'closed',
      calls: 1,
      failures: { failed: 1 },
      firstEvent: undefined,
      callsInFlight: 0,
      modelIds: ['acme/m-1', 'acme/alone'],
    },
    { target: { provider: 'second' }, calls: 1, failures: {}, firstEvent: { p95Ms: expect.any(Number) } },
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
  const during = await admin.getProviderHealth({});
  expect(during.targets[0]?.callsInFlight).toBe(1);
  expect(during.providers[0]?.callsInFlight).toBe(1);
  respond();
  await running;
  expect((await admin.getProviderHealth({})).targets[0]?.callsInFlight).toBe(0);
});

it('returns the catalogue with the targets of each model, but no address or key of a provider', async () => {
  const response = await admin.getCatalogue({});
  expect(response.models.map(({ model: of, targets }) => [of?.id, targets.length])).toEqual([
    ['acme/m-1', 2],
    ['acme/alone', 1],
  ]);
  const text = JSON.stringify(response, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  expect(text).not.toContain('127.0.0.1');
});

const disable = (disabled: boolean, modelId = 'acme/alone') =>
  admin.setModelDisabled({ modelId, disabled, reason: 'wrong price' });

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
    model: { id: 'acme/alone', disabled: true },
    disabledInFile: false,
    switchedOff: { by: TEST_OPERATOR.label, reason: 'wrong price' },
  });
  const refused = await router.collect(generateRequest({ modelId: 'acme/alone' }));
  expect(refused.error).toMatchObject({ code: 'model_not_found' });
  respond();
  expect((await running).finished?.finishReason).toBe('stop');

  expect((await disable(false)).model).toMatchObject({ model: { disabled: false }, switchedOff: undefined });
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
  const catalogue = new FixedCatalogue(catalogueOf(models));
  const restarted = await RouterUnderTest.start([], { catalogue, disabledModelStore });
  const restartedAdmin = createClient(
    InferenceRouterAdminDefinition,
    inProcessFor(restarted.module.services),
  );
  const disabled = async () =>
    (await restartedAdmin.getCatalogue({})).models.map((one) => [one.model?.disabled, one.disabledInFile]);
  expect(await disabled()).toEqual([[true, false]]);
  catalogue.change(catalogueOf(models, 2));
  expect(await disabled()).toEqual([[true, false]]);
  await restarted.stop();
});

it('every router applies a disabled model', async () => {
  const models = [model([provider('first', first.url)], { id: 'acme/alone' })];
  const other = await RouterUnderTest.start(models, { disabledModelStore });
  await disable(true);
  const otherAdmin = createClient(InferenceRouterAdminDefinition, inProcessFor(other.module.services));
  await eventually('the other router disables the model', async () => {
    const { models: known } = await otherAdmin.getCatalogue({});
    return known.every((one) => one.model?.disabled) || undefined;
  });
  await other.stop();
});

it('a model that the models file disables stays disabled, and an unknown model cannot be disabled', async () => {
  const inFile = await RouterUnderTest.start([model([], { id: 'acme/off', disabled: true })]);
  const client = createClient(InferenceRouterAdminDefinition, inProcessFor(inFile.module.services));
  const change = { modelId: 'acme/off', disabled: false, reason: 'x' };
  expect((await client.setModelDisabled(change)).model).toMatchObject({
    model: { disabled: true },
    disabledInFile: true,
    switchedOff: undefined,
  });
  await inFile.stop();
  expect((await disable(true, 'acme/none')).model).toBeUndefined();
});

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
