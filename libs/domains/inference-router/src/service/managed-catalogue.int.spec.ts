import { createAdminClient, type AdminClient } from '@gateway/admin-calls';
import { createAuditEntries } from '@gateway/audit';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { applyMigrations, createPool } from '@gateway/database';
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
  readonly admin: AdminClient;
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
  return { under, admin: createAdminClient(inProcessFor(under.module.services)) };
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

const { saveDraft, discardDraft, rollBack, setSecret, deleteSecret, editEntry } = endpoints.catalogue;

const stateOf = ({ admin }: Router) => admin.call(endpoints.catalogue.state);
const versionsOf = async ({ admin }: Router, page_size = '20') =>
  admin.call(endpoints.catalogue.versions, { query: { page_size } });
const check = ({ admin }: Router, text: string) => admin.call(parts.catalogueCheck, { body: { text } });

async function publish(router: Router, text: string, comment = 'A change.') {
  const { version, draft } = await stateOf(router);
  const saved = await router.admin.call(saveDraft, {
    body: { text, expected_revision: draft?.revision ?? 0 },
  });
  const body = {
    ...{ draft_revision: saved.draft.revision, expected_version: version?.version ?? 0, comment },
  };
  return (await router.admin.call(endpoints.catalogue.publish, { body })).version;
}

async function setKey({ admin }: Router, value = KEY) {
  return admin.call(setSecret, { body: { name: 'acme', value } });
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
    ...{ version: 1, published_by: TEST_OPERATOR.label, comment: 'A change.' },
  });
  await Promise.all([runs(one, 1), runs(other, 1)]);
  for (const { under } of [one, other]) {
    provider.play(helloCompletion);
    expect((await under.collect(generateRequest())).finished?.finishReason).toBe('stop');
    expect(provider.calls.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${KEY}` });
  }
  await eventually('both routers report version 1', async () => {
    const { routers } = await stateOf(one);
    return routers.filter(({ version }) => version === 1).length === 2 || undefined;
  });
  const { routers } = await stateOf(one);
  expect(routers.map(({ name }) => name)).toEqual(['router-1', 'router-2']);
});

it('a stored secret is never returned, is encrypted in the database, and a new value is used without a new version', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await runs(router, 1);
  const state = await stateOf(router);
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
  const message = expect.stringContaining('models[0].prices.input (line 12)');
  await expect(publish(router, text)).rejects.toMatchObject({
    code: 'invalid',
    metadata: { issues: [{ message, line: 12 }] },
  });
  expect((await stateOf(router)).draft?.text).toBe(text);
  expect((await check(router, text)).issues).toEqual([{ message, line: 12 }]);
  // A router must be able to load it: its secrets must exist.
  expect((await check(router, textWith())).issues).toEqual([
    { message: expect.stringContaining('the stored secret acme is missing'), line: 4 },
  ]);
  expect((await versionsOf(router)).data).toEqual([]);
});

it('of concurrent changes one is made, and the others are conflicts', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  const save = (input: string) =>
    router.admin.call(saveDraft, { body: { text: textWith({ input }), expected_revision: 0 } });
  const saves = await Promise.allSettled(['1', '2', '3', '4'].map(save));
  const drafts = saves.flatMap((saved) => (saved.status === 'fulfilled' ? [saved.value.draft] : []));
  expect(drafts).toHaveLength(1);
  const publishDraft = (draft_revision: number, comment: string) =>
    router.admin.call(endpoints.catalogue.publish, {
      body: { draft_revision, expected_version: 0, comment },
    });
  const publishes = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((comment) => publishDraft(drafts[0]?.revision ?? 0, comment)),
  );
  expect(publishes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const { reason } of publishes as PromiseRejectedResult[]) {
    if (reason !== undefined) expect(reason).toMatchObject({ code: 'conflict' });
  }
  // A discarded draft's revision is never used again.
  const { revision } = (await save('5')).draft;
  expect(revision).toBeGreaterThan(drafts[0]?.revision ?? 0);
  await expect(publishDraft(revision, 'stale')).rejects.toMatchObject({ code: 'conflict' });
});

it('a rollback publishes the exact text of an earlier version as a new one', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await publish(router, textWith({ input: '3' }), 'A mistake.');
  const rolledBack = await router.admin.call(rollBack, {
    body: { version: 1, expected_version: 2, comment: 'Back.' },
  });
  expect(rolledBack.version).toMatchObject({ version: 3, restored_version: 1 });
  const { text, version } = await stateOf(router);
  expect([version?.version, text]).toEqual([3, textWith()]);
  const { changes } = await router.admin.call(endpoints.catalogue.version, { params: { version: '3' } });
  expect(changes).toEqual([
    {
      kind: 'model',
      name: 'acme/m-1',
      change: 'changed',
      fields: [{ field: 'prices.input', before: '3', after: '1' }],
    },
  ]);
  const page = await versionsOf(router, '2');
  expect([page.data.map((one) => one.version), page.next_page_token]).toEqual([[3, 2], '2']);
  const missing = { version: 9, expected_version: 3, comment: 'None.' };
  await expect(router.admin.call(rollBack, { body: missing })).rejects.toMatchObject({ code: 'not_found' });
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
  await router.admin.call(setSecret, { body: { name: 'unused', value: 'sk-unused' } });
  await publish(router, textWith());
  const remove = (secret_name: string) =>
    router.admin.call(deleteSecret, { params: { secret_name }, body: {} });
  await expect(remove('acme')).rejects.toMatchObject({ code: 'conflict' });
  await remove('unused');
  expect((await stateOf(router)).secrets.map(({ name }) => name)).toEqual(['acme']);
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
    const { routers } = await stateOf(router);
    return routers.find((each) => each.name === 'router-2' && each.rejected_version === 3);
  });
  expect(report.version).toBe(2);
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
  const { version, text, secrets } = await stateOf(first);
  expect(version).toMatchObject({ version: 1, published_by: 'system' });
  expect(text).toBe(textWith({ key: 'api_key_secret: ACME_KEY' }));
  expect(secrets).toMatchObject([{ name: 'ACME_KEY', used: true }]);
  await startRouter('router-3', { modelsFile: modelsFile.replace('acme/m-1', 'acme/other') });
  expect((await versionsOf(first)).data).toHaveLength(1);
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
  const body = { text: textWith(), model: 'acme/m-1', target: 0 };
  const test = (change: object = {}) =>
    router.admin.call(endpoints.catalogue.test, { body: { ...body, ...change } });
  provider.play(helloCompletion);
  expect((await test()).test.error).toBeNull();
  expect(provider.calls.at(-1)?.body).toMatchObject({
    model: 'upstream-model',
    max_tokens: 1,
    stream: false,
  });
  const response = { message: `Incorrect API key provided: ${KEY}.`, code: 'internal-value', type: 'other' };
  provider.play(failure(401, response));
  expect((await test()).test.error).toMatch(/^acme: HTTP 401 from http:\S+$/);
  expect(await auditActions()).toContain('target.test acme/upstream-model');
  await expect(test({ model: 'acme/none' })).rejects.toMatchObject({ code: 'not_found' });
});

it('a stored secret is sent only to the origins of its first use, until its value is replaced', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  await publish(router, textWith());
  await runs(router, 1);
  const elsewhere = await ScriptedProvider.start();
  elsewhere.play(helloCompletion);
  const moved = textWith().replace(provider.url, elsewhere.url);
  const message = expect.stringContaining('the stored secret acme belongs to http://127.0.0.1:');
  const refusal = { code: 'invalid', metadata: { issues: [expect.objectContaining({ message })] } };
  const body = { text: moved, model: 'acme/m-1', target: 0 };
  await expect(router.admin.call(endpoints.catalogue.test, { body })).rejects.toMatchObject(refusal);
  await expect(publish(router, moved)).rejects.toMatchObject(refusal);
  expect(elsewhere.calls).toHaveLength(0);
  // Another version of the same origin needs no value.
  const { draft } = await stateOf(router);
  await router.admin.call(discardDraft, { body: { expected_revision: draft?.revision ?? 0 } });
  expect(await publish(router, textWith({ input: '3' }))).toMatchObject({ version: 2 });
  await setKey(router, 'sk-another-key-of-the-new-address-1234');
  expect(await publish(router, moved)).toMatchObject({ version: 3 });
  await runs(router, 3);
  const back = { version: 1, expected_version: 3, comment: 'Back.' };
  await expect(router.admin.call(rollBack, { body: back })).rejects.toMatchObject(refusal);
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
  const propose = (from: string) =>
    router.admin.call(endpoints.catalogue.proposePrices, { body: { text: from, margin_percent: 12.5 } });
  const value = await propose(text);
  expect(value.changed_models).toEqual(['acme/sonnet']);
  expect(value.notes).toContain('acme/own: not in the price data');
  // Published: 3 and 15 US dollars.
  expect(value.text).toContain("image: '9'");
  const { changes, issues } = await check(router, value.text);
  expect(issues).toEqual([]);
  const sonnet = changes.find(({ name }) => name === 'acme/sonnet')?.fields ?? [];
  expect(sonnet.find(({ field }) => field === 'prices.input')?.after).toBe('3.375');
  expect(sonnet.find(({ field }) => field === 'prices.output')?.after).toBe('16.875');
  expect(value.text.split('prices:')[0]).toBe(text.split('prices:')[0]);
  expect(value.text.slice(value.text.indexOf('extra_parameters'))).toBe(
    text.slice(text.indexOf('extra_parameters')),
  );
  const opus = value.new_models.find(({ model }) => model === 'claude-opus-4-5');
  expect(opus?.entry).toEqual({
    id: 'anthropic/claude-opus-4-5',
    name: 'Claude Opus 4.5',
    owned_by: 'anthropic',
    // What the provider publishes is the cost, so the margin of the new model is known.
    targets: [
      {
        ...{ provider: 'anthropic', model: 'claude-opus-4-5' },
        cost: expect.objectContaining({ input: '5', output: '25' }),
      },
    ],
    context_window: 200_000,
    prices: expect.objectContaining({ input: '5.625', output: '28.125' }),
  });
  expect(value.new_models.map(({ model }) => model)).not.toContain('claude-sonnet-4-5');
  expect(new Set(value.new_models.map((each) => each.provider))).toEqual(new Set(['anthropic']));
  expect(await propose(value.text)).toMatchObject({ text: value.text, changed_models: [] });
  const state = await stateOf(router);
  expect([state.version, state.draft]).toEqual([null, null]);
});

it('entries are read and edited as values, for forms, with the JSON Schema of the text', async () => {
  const router = await startRouter('router-1');
  await setKey(router);
  const text = textWith();
  const { providers, models, schema } = await router.admin.call(endpoints.catalogue.entries, {
    body: { text },
  });
  expect(providers.map((entry) => entry['name'])).toEqual(['acme']);
  expect(schema).toMatchObject({
    properties: { models: { items: { required: expect.arrayContaining(['prices']) } } },
  });
  const [model = {}] = models;
  const prices = model['prices'] as object;
  const edit = async (entry: Record<string, unknown> | null, index: number | null) =>
    (await router.admin.call(editEntry, { body: { text, kind: 'model', index, entry } })).text;
  expect(await edit({ ...model, prices: { ...prices, input: '7' } }, 0)).toBe(
    textWith({ input: '7' }).replace(/\[(.*)]/, '[ $1 ]'),
  );
  const longer = await edit({ ...model, id: 'acme/m-2', prices: { input: 1 } }, null);
  expect((await check(router, longer)).issues).toEqual([
    expect.objectContaining({ message: expect.stringContaining('models[1].prices.input') }),
    expect.objectContaining({ message: expect.stringContaining('models[1].prices.output') }),
  ]);
  await expect(edit(null, 5)).rejects.toMatchObject({
    code: 'invalid',
    message: 'The text has no such entry.',
  });
  await expect(edit([] as never, 0)).rejects.toMatchObject({ code: 'invalid', param: 'entry' });
  expect((await stateOf(router)).draft).toBeNull();
});

it('a catalogue in a file is shown, and every change is refused', async () => {
  const under = await RouterUnderTest.start([]);
  running.push(under);
  const router = { under, admin: createAdminClient(inProcessFor(under.module.services)) };
  const { admin } = router;
  expect(await stateOf(router)).toMatchObject({ source: 'file', secrets: [], routers: [] });
  const next = { expected_version: 0, comment: 'x' };
  const attempts = await Promise.allSettled([
    admin.call(saveDraft, { body: { text: '', expected_revision: 0 } }),
    admin.call(discardDraft, { body: { expected_revision: 1 } }),
    admin.call(endpoints.catalogue.publish, { body: { draft_revision: 1, ...next } }),
    admin.call(rollBack, { body: { version: 1, ...next } }),
    admin.call(setSecret, { body: { name: 'a', value: 'b' } }),
    admin.call(deleteSecret, { params: { secret_name: 'a' }, body: {} }),
    admin.call(endpoints.catalogue.test, { body: { text: '', model: 'a', target: 0 } }),
    admin.call(endpoints.catalogue.proposePrices, { body: { text: '', margin_percent: 0 } }),
    admin.call(editEntry, { body: { text: '', kind: 'model', index: null, entry: null } }),
  ]);
  expect(attempts.map((attempt) => attempt.status === 'rejected' && attempt.reason)).toEqual(
    attempts.map(() => expect.objectContaining({ code: 'conflict' })),
  );
});
