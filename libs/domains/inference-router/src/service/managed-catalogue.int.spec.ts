import { createAuditEntries } from '@gateway/audit';
import { CatalogueAdminDefinition, CatalogueRefusalReason } from '@gateway/contracts/inference-router';
import { applyMigrations, createPool } from '@gateway/database';
import { createClient, type RpcClient } from '@gateway/rpc';
import { createSilentLogger, systemClock } from '@gateway/runtime';
import { createEncryptionKey, createSecretCipher } from '@gateway/secrets';
import {
  createTestDatabase,
  eventually,
  inProcessFor,
  TEST_OPERATOR,
  type TestDatabase,
} from '@gateway/test-support';
import type { Pool } from 'pg';
import { findPriceData, listPriceData } from '../adapters/genai-prices';
import { createPostgresCatalogueStore } from '../adapters/postgres/catalogue-store';
import { createDatabaseCatalogue } from '../adapters/postgres/database-catalogue';
import { INFERENCE_ROUTER_SCHEMA, inferenceRouterSchema } from '../adapters/postgres/sql/schema';
import { createCatalogueTexts } from '../adapters/yaml/catalogue-texts';
import { importModelsFile } from '../adapters/yaml/import-models-file';
import type { CatalogueStore } from '../core/catalogue/managed-catalogue';
import { generateRequest, RouterUnderTest } from '../testing/router-under-test';
import { failure, helloCompletion, ScriptedProvider } from '../testing/scripted-provider';

const KEY = 'sk-stored-secret-of-the-provider-7f3a';
const log = createSilentLogger();
const clock = systemClock;
const texts = createCatalogueTexts({ variables: {} });

let provider: ScriptedProvider;
let database: TestDatabase;
let pool: Pool;
let encryptionKey: string;
let running: RouterUnderTest[];

beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());
beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({
    url: database.url,
    schema: INFERENCE_ROUTER_SCHEMA,
    applicationName: 't',
    maxConnections: 4,
  });
  await applyMigrations(pool, inferenceRouterSchema);
  encryptionKey = createEncryptionKey();
  running = [];
  provider.calls.length = 0;
});
afterEach(async () => {
  await Promise.all(running.map((router) => router.stop()));
  await pool.end();
  await database.drop();
});

interface Router {
  readonly under: RouterUnderTest;
  readonly admin: RpcClient<typeof CatalogueAdminDefinition>;
}

async function startRouter(
  name: string,
  {
    store = storeWith([encryptionKey]),
    modelsFile,
  }: { readonly store?: CatalogueStore; readonly modelsFile?: string } = {},
): Promise<Router> {
  const secrets = {
    fromEnvironment: (variable: string) => (variable === 'ACME_KEY' ? KEY : undefined),
    fromFile: () => undefined,
  };
  const catalogue = createDatabaseCatalogue({
    ...{ store, texts, processName: name, clock, log, pollMs: 20 },
    prepare: async () => {
      if (modelsFile !== undefined) await importModelsFile(modelsFile, { store, texts, secrets, clock, log });
    },
  });
  const under = await RouterUnderTest.start([], {
    catalogue,
    managedCatalogue: {
      store,
      texts,
      loadPriceData: async () => ({ find: findPriceData, list: listPriceData }),
    },
    processName: name,
  });
  running.push(under);
  return { under, admin: createClient(CatalogueAdminDefinition, inProcessFor(under.module.services)) };
}

function storeWith(keys: readonly string[]) {
  return createPostgresCatalogueStore({ pool, cipher: createSecretCipher(keys), log });
}

const textWith = ({ input = '1', id = 'acme/m-1', key = 'api_key_secret: acme' } = {}) => `providers:
  - name: acme
    base_url: ${provider.url}
    ${key}
    max_attempts: 1
models:
  - id: ${id}
    targets: [{ provider: acme, model: upstream-model }]
    context_window: 8192
    max_output_tokens: 1000
    # A comment stays.
    prices: { input: '${input}', output: '2' }
`;

async function publish({ admin }: Router, text: string, comment = 'A change.') {
  const { version, draft } = await admin.getCatalogueState({});
  const saved = await admin.saveCatalogueDraft({ text, expectedRevision: draft?.revision ?? 0n });
  if (saved.outcome?.$case !== 'draft') return saved.outcome;
  const { outcome } = await admin.publishCatalogue({
    draftRevision: saved.outcome.value.revision,
    expectedVersion: version?.version ?? 0n,
    comment,
  });
  return outcome;
}

async function setKey({ admin }: Router, value = KEY) {
  return admin.setProviderSecret({ name: 'acme', value });
}

const publishedVersion = (router: Router) =>
  router.under.metric('gateway_inference_router_catalogue_version');
const runs = (router: Router, version: number) =>
  eventually(
    `the router runs version ${version}`,
    async () => (await publishedVersion(router)) === version || undefined,
  );

const auditActions = async () =>
  (await createAuditEntries(pool, INFERENCE_ROUTER_SCHEMA).list({}, { limit: 50, before: undefined }))
    .map(({ action, target }) => `${action} ${target}`)
    .reverse();

it('a published version is active in every router, and each reports which one it runs', async () => {
  const [one, other] = [await startRouter('router-1'), await startRouter('router-2')];
  expect((await one.under.collect(generateRequest())).error).toMatchObject({ code: 'model_not_found' });
  await setKey(one);
  expect(await publish(one, textWith())).toMatchObject({
    $case: 'version',
    value: { version: 1n, publishedBy: TEST_OPERATOR.label, comment: 'A change.' },
  });
  await Promise.all([runs(one, 1), runs(other, 1)]);
  for (const { under } of [one, other]) {
    provider.play(helloCompletion);
    expect((await under.collect(generateRequest())).finished?.finishReason).toBe('stop');
    expect(provider.calls.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  }
  await eventually('both routers report version 1', async () => {
    const { routers } = await one.admin.getCatalogueState({});
    return routers.filter(({ version }) => version === 1n).length === 2 || undefined;
  });
  const { routers } = await one.admin.getCatalogueState({});
  expect(routers.map(({ name }) => name)).toEqual(['router-1', 'router-2']);
});

it('a stored secret is never returned, is encrypted in the database, and a new value is used without a new version', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await runs(router, 1);
  const state = await router.admin.getCatalogueState({});
  expect(state.secrets).toMatchObject([{ name: 'acme', hint: '7f3a', used: true }]);
  const stored = await pool.query('select * from provider_secrets');
  const audited = await pool.query('select * from audit_entries');
  const everything = [state, stored.rows, audited.rows].map((part) =>
    JSON.stringify(part, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  );
  for (const text of everything) expect(text).not.toContain(KEY.slice(0, 20));

  await setKey(router, 'sk-rotated-key-of-the-provider');
  await eventually('the router uses the new key', async () => {
    provider.play(helloCompletion);
    await router.under.collect(generateRequest());
    return (
      provider.calls.at(-1)?.headers['authorization'] === 'Bearer sk-rotated-key-of-the-provider' || undefined
    );
  });
  expect(await publishedVersion(router)).toBe(1);
});

it('a text with errors is saved as a draft but not published, with the messages of the models file', async () => {
  const router = await startRouter('router-1');
  const text = textWith().replace("'1'", '1');
  const outcome = await publish(router, text);
  const message = expect.stringContaining('models[0].prices.input (line 12)');
  expect(outcome).toMatchObject({
    $case: 'refusal',
    value: {
      reason: CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_INVALID,
      issues: [{ message, line: 12 }],
    },
  });
  expect((await router.admin.getCatalogueState({})).draft?.text).toBe(text);
  expect((await router.admin.checkCatalogue({ text })).issues).toEqual([{ message, line: 12 }]);
  // A router must be able to load it: its secrets must exist.
  expect((await router.admin.checkCatalogue({ text: textWith() })).issues).toEqual([
    { message: expect.stringContaining('the stored secret acme is missing'), line: 4 },
  ]);
  expect((await router.admin.listCatalogueVersions({ pageSize: 0, before: 0n })).versions).toEqual([]);
});

it('of concurrent changes one is made, and the others are conflicts', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  const save = (input: string) =>
    router.admin.saveCatalogueDraft({ text: textWith({ input }), expectedRevision: 0n });
  const saves = await Promise.all(['1', '2', '3', '4'].map(save));
  const drafts = saves.flatMap(({ outcome }) => (outcome?.$case === 'draft' ? [outcome.value] : []));
  expect(drafts).toHaveLength(1);
  const publishes = await Promise.all(
    ['a', 'b', 'c', 'd'].map((comment) =>
      router.admin.publishCatalogue({
        draftRevision: drafts[0]?.revision ?? 0n,
        expectedVersion: 0n,
        comment,
      }),
    ),
  );
  expect(publishes.map(({ outcome }) => outcome?.$case).sort()).toEqual([
    'refusal',
    'refusal',
    'refusal',
    'version',
  ]);
  // A discarded draft's revision is never used again.
  const again = await save('5');
  const revision = again.outcome?.$case === 'draft' ? again.outcome.value.revision : 0n;
  expect(revision).toBeGreaterThan(drafts[0]?.revision ?? 0n);
  const stale = { draftRevision: revision, expectedVersion: 0n, comment: 'stale' };
  expect((await router.admin.publishCatalogue(stale)).outcome).toMatchObject({
    value: { reason: CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_CONFLICT },
  });
});

it('a rollback publishes the exact text of an earlier version as a new one', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await publish(router, textWith({ input: '3' }), 'A mistake.');
  const { outcome } = await router.admin.rollBackCatalogue({
    version: 1n,
    expectedVersion: 2n,
    comment: 'Back.',
  });
  expect(outcome).toMatchObject({ $case: 'version', value: { version: 3n, restoredVersion: 1n } });
  const { text, version } = await router.admin.getCatalogueState({});
  expect([version?.version, text]).toEqual([3n, textWith()]);
  const { changes } = await router.admin.getCatalogueVersion({ version: 3n });
  expect(changes).toEqual([
    {
      kind: 'model',
      name: 'acme/m-1',
      change: 'changed',
      fields: [{ field: 'prices.input', before: '3', after: '1' }],
    },
  ]);
  const { versions, hasMore } = await router.admin.listCatalogueVersions({ pageSize: 2, before: 0n });
  expect([versions.map((one) => one.version), hasMore]).toEqual([[3n, 2n], true]);
  const missing = { version: 9n, expectedVersion: 3n, comment: 'None.' };
  expect((await router.admin.rollBackCatalogue(missing)).outcome).toMatchObject({
    value: { reason: CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_NOT_FOUND },
  });
  expect(await auditActions()).toEqual([
    'provider_secret.set acme',
    'catalogue.save_draft draft',
    'catalogue.publish version 1',
    'catalogue.save_draft draft',
    'catalogue.publish version 2',
    'catalogue.roll_back version 3',
  ]);
});

it('a secret that the version in effect uses cannot be deleted', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await router.admin.setProviderSecret({ name: 'unused', value: 'sk-unused' });
  await publish(router, textWith());
  expect((await router.admin.deleteProviderSecret({ name: 'acme' })).refusal).toMatchObject({
    reason: CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_IN_USE,
  });
  expect((await router.admin.deleteProviderSecret({ name: 'unused' })).refusal).toBeUndefined();
  expect((await router.admin.getCatalogueState({})).secrets.map(({ name }) => name)).toEqual(['acme']);
});

it('a router keeps its version while the database is unavailable, and when it cannot load a later one', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await runs(router, 1);
  const real = storeWith([encryptionKey]);
  let isUnavailable = false;
  const failing =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (isUnavailable) throw new Error('the database is unavailable');
      return call(...args);
    };
  const flaky = { ...real, sequence: failing(real.sequence), readPublished: failing(real.readPublished) };
  const other = await startRouter('router-2', { store: flaky });
  isUnavailable = true;
  await publish(router, textWith({ input: '5' }));
  await runs(router, 2);
  provider.play(helloCompletion);
  expect((await other.under.collect(generateRequest())).error).toBeUndefined();
  expect(await publishedVersion(other)).toBe(1);
  isUnavailable = false;
  await runs(other, 2);

  // Its key of the secrets differs, as after a mistake in its configuration.
  const broken = storeWith([createEncryptionKey()]);
  Object.assign(flaky, { readPublished: broken.readPublished });
  await publish(router, textWith({ input: '6' }));
  await runs(router, 3);
  const report = await eventually('router-2 reports that it rejected version 3', async () => {
    const { routers } = await router.admin.getCatalogueState({});
    return routers.find(({ name, rejectedVersion }) => name === 'router-2' && rejectedVersion === 3n);
  });
  expect(report.version).toBe(2n);
  provider.play(helloCompletion);
  expect((await other.under.collect(generateRequest())).error).toBeUndefined();
});

it('an empty database gets the models file as version 1, with its keys as encrypted secrets, once', async () => {
  const modelsFile = textWith({ key: 'api_key_env: ACME_KEY' });
  const routers = await Promise.all(
    ['router-1', 'router-2'].map((name) => startRouter(name, { modelsFile })),
  );
  for (const { under } of routers) {
    provider.play(helloCompletion);
    expect((await under.collect(generateRequest())).error).toBeUndefined();
    expect(provider.calls.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  }
  const [first] = routers as [Router];
  const { version, text, secrets } = await first.admin.getCatalogueState({});
  expect(version).toMatchObject({ version: 1n, publishedBy: 'system' });
  expect(text).toBe(textWith({ key: 'api_key_secret: ACME_KEY' }));
  expect(secrets).toMatchObject([{ name: 'ACME_KEY', used: true }]);
  await startRouter('router-3', { modelsFile: modelsFile.replace('acme/m-1', 'acme/other') });
  const { versions } = await first.admin.listCatalogueVersions({ pageSize: 0, before: 0n });
  expect(versions).toHaveLength(1);
});

it('secrets are encrypted with the current key, and older keys decrypt', async () => {
  await setKey(await startRouter('router-1'));
  const current = createEncryptionKey();
  const store = storeWith([current, encryptionKey]);
  expect(await store.reencryptSecrets()).toBe(1);
  expect(await store.reencryptSecrets()).toBe(0);
  expect([...(await storeWith([current]).readPublished()).secrets]).toEqual([['acme', KEY]]);
});

it('a test requests one token from a target of a draft, and shows only the status of a host without a preset', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  const test = { text: textWith(), modelId: 'acme/m-1', target: 0 };
  provider.play(helloCompletion);
  expect((await router.admin.testTarget(test)).outcome).toMatchObject({
    $case: 'test',
    value: { error: undefined },
  });
  expect(provider.calls.at(-1)?.body).toMatchObject({
    model: 'upstream-model',
    max_tokens: 1,
    stream: false,
  });
  const response = { message: `Incorrect API key provided: ${KEY}.`, code: 'internal-value', type: 'other' };
  provider.play(failure(401, response));
  const { outcome } = await router.admin.testTarget(test);
  const error = outcome?.$case === 'test' ? outcome.value.error : undefined;
  expect(error).toMatch(/^acme: HTTP 401 from http:\S+$/);
  expect(await auditActions()).toContain('target.test acme/upstream-model');
  const unknown = await router.admin.testTarget({ ...test, modelId: 'acme/none' });
  expect(unknown.outcome).toMatchObject({
    value: { reason: CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_NOT_FOUND },
  });
});

it('a stored secret is sent only to the origins of its first use, until its value is replaced', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await runs(router, 1);
  const elsewhere = await ScriptedProvider.start();
  elsewhere.play(helloCompletion);
  const moved = textWith().replace(provider.url, elsewhere.url);
  const refusal = {
    $case: 'refusal',
    value: {
      issues: [{ message: expect.stringContaining('the stored secret acme belongs to http://127.0.0.1:') }],
    },
  };
  const test = { text: moved, modelId: 'acme/m-1', target: 0 };
  expect((await router.admin.testTarget(test)).outcome).toMatchObject(refusal);
  expect(await publish(router, moved)).toMatchObject(refusal);
  expect(elsewhere.calls).toHaveLength(0);
  // Another version of the same origin needs no value.
  const { draft } = await router.admin.getCatalogueState({});
  await router.admin.discardCatalogueDraft({ expectedRevision: draft?.revision ?? 0n });
  expect(await publish(router, textWith({ input: '3' }))).toMatchObject({ $case: 'version' });
  await setKey(router, 'sk-another-key-of-the-new-address-1234');
  expect(await publish(router, moved)).toMatchObject({ $case: 'version' });
  await runs(router, 3);
  const back = { version: 1n, expectedVersion: 3n, comment: 'Back.' };
  expect((await router.admin.rollBackCatalogue(back)).outcome).toMatchObject(refusal);
  await elsewhere.stop();
});

it('published prices become a text with a margin, which is neither saved nor published', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  const text = `# Ours.
providers:
  - name: anthropic
    preset: anthropic
    api_key_secret: acme
  - name: acme
    base_url: ${provider.url}
models:
  - id: acme/sonnet
    targets: [{ provider: anthropic, model: claude-sonnet-4-5 }]
    context_window: 200000
    max_output_tokens: 64000
    prices:
      input: '1'
      # Not published.
      image: '9'
      output: '1'
    extra_parameters: [top_k]
  - id: acme/own
    targets: [{ provider: acme, model: own }]
    context_window: 8192
    max_output_tokens: 1000
    prices: { input: '1', output: '2' }
`;
  const proposed = await router.admin.proposePrices({ text, marginPercent: 12.5 });
  if (proposed.outcome?.$case !== 'proposal') throw new Error('there is no proposal');
  const { value } = proposed.outcome;
  expect(value.changedModels).toEqual(['acme/sonnet']);
  expect(value.notes).toContain('acme/own: not in the price data');
  // Published: 3 and 15 US dollars.
  expect(value.text).toContain("image: '9'");
  const { changes, issues } = await router.admin.checkCatalogue({ text: value.text });
  expect(issues).toEqual([]);
  const sonnet = changes.find(({ name }) => name === 'acme/sonnet')?.fields ?? [];
  expect(sonnet.find(({ field }) => field === 'prices.input')?.after).toBe('3.375');
  expect(sonnet.find(({ field }) => field === 'prices.output')?.after).toBe('16.875');
  expect(value.text.split('prices:')[0]).toBe(text.split('prices:')[0]);
  expect(value.text.slice(value.text.indexOf('extra_parameters'))).toBe(
    text.slice(text.indexOf('extra_parameters')),
  );
  const opus = value.newModels.find(({ model }) => model === 'claude-opus-4-5');
  expect(JSON.parse(opus?.entryJson ?? '')).toEqual({
    id: 'anthropic/claude-opus-4-5',
    name: 'Claude Opus 4.5',
    owned_by: 'anthropic',
    targets: [{ provider: 'anthropic', model: 'claude-opus-4-5' }],
    context_window: 200_000,
    prices: expect.objectContaining({ input: '5.625', output: '28.125' }),
  });
  expect(value.newModels.map(({ model }) => model)).not.toContain('claude-sonnet-4-5');
  expect(new Set(value.newModels.map((each) => each.provider))).toEqual(new Set(['anthropic']));
  const again = await router.admin.proposePrices({ text: value.text, marginPercent: 12.5 });
  expect(again.outcome).toMatchObject({ value: { text: value.text, changedModels: [] } });
  const state = await router.admin.getCatalogueState({});
  expect([state.version, state.draft]).toEqual([undefined, undefined]);
});

it('entries are read and edited as values, for forms, with the JSON Schema of the text', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  const text = textWith();
  const { providersJson, modelsJson, schemaJson } = await router.admin.listCatalogueEntries({ text });
  expect(providersJson.map((json) => JSON.parse(json).name)).toEqual(['acme']);
  expect(JSON.parse(schemaJson).properties.models.items.required).toContain('prices');
  const model = JSON.parse(modelsJson[0] ?? '');
  const edit = (entry: object | undefined, index: number | undefined) =>
    router.admin.editCatalogueEntry({
      ...{ text, kind: 'model', index },
      entryJson: entry && JSON.stringify(entry),
    });
  const edited = await edit({ ...model, prices: { ...model.prices, input: '7' } }, 0);
  expect(edited.outcome).toEqual({
    $case: 'text',
    value: textWith({ input: '7' }).replace(/\[(.*)]/, '[ $1 ]'),
  });
  const added = await edit({ ...model, id: 'acme/m-2', prices: { input: 1 } }, undefined);
  const longer = added.outcome?.$case === 'text' ? added.outcome.value : '';
  expect((await router.admin.checkCatalogue({ text: longer })).issues).toEqual([
    expect.objectContaining({ message: expect.stringContaining('models[1].prices.input') }),
    expect.objectContaining({ message: expect.stringContaining('models[1].prices.output') }),
  ]);
  expect((await edit(undefined, 5)).outcome).toMatchObject({
    value: {
      reason: CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_INVALID,
      message: 'The text has no such entry.',
    },
  });
  await expect(edit([], 0)).rejects.toMatchObject({ code: 'invalid_request', param: 'entry' });
  expect((await router.admin.getCatalogueState({})).draft).toBeUndefined();
});

it('a catalogue in a file is shown, and every change is refused', async () => {
  const under = await RouterUnderTest.start([]);
  running.push(under);
  const admin = createClient(CatalogueAdminDefinition, inProcessFor(under.module.services));
  expect(await admin.getCatalogueState({})).toMatchObject({ source: 'file', secrets: [], routers: [] });
  const outcomes = await Promise.all([
    admin.saveCatalogueDraft({ text: '', expectedRevision: 0n }),
    admin.publishCatalogue({ draftRevision: 1n, expectedVersion: 0n, comment: 'x' }),
    admin.rollBackCatalogue({ version: 1n, expectedVersion: 0n, comment: 'x' }),
    admin.setProviderSecret({ name: 'a', value: 'b' }),
    admin.testTarget({ text: '', modelId: 'a', target: 0 }),
    admin.proposePrices({ text: '', marginPercent: 0 }),
    admin.editCatalogueEntry({ text: '', kind: 'model' }),
  ]);
  const refusals = outcomes.map(({ outcome }) => outcome?.$case === 'refusal' && outcome.value.reason);
  const readOnly = CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_READ_ONLY;
  expect(refusals).toEqual(outcomes.map(() => readOnly));
  expect((await admin.discardCatalogueDraft({ expectedRevision: 0n })).refusal?.reason).toBe(readOnly);
  expect((await admin.deleteProviderSecret({ name: 'a' })).refusal?.reason).toBe(readOnly);
});
