import { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from '@gateway/billing-ledger';
import { nanoUsd, type AuditEntry, type UnixMs } from '@gateway/base';
import { applyMigrations, createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import { createSilentLogger } from '@gateway/runtime';
import { createEncryptionKey, createSecretCipher } from '@gateway/secrets';
import type { Pool } from 'pg';
import { createPostgresCreditAlertStore } from './credit-alert-store';
import { createWebhookSecrets } from './webhook-secrets';

const log = createSilentLogger();
const keys = [createEncryptionKey(), createEncryptionKey()] as const;
const SECRET = 'whsec_of-the-organization';
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({
    url: database.url,
    schema: BILLING_LEDGER_SCHEMA,
    applicationName: 't',
    maxConnections: 4,
  });
  await applyMigrations(pool, billingLedgerSchema);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

function storeWith(...encryptionKeys: readonly string[]) {
  const cipher = encryptionKeys.length === 0 ? undefined : createSecretCipher(encryptionKeys);
  return createPostgresCreditAlertStore({ pool, secrets: createWebhookSecrets({ pool, cipher, log }) });
}

async function storedOf(organizationId: string): Promise<string> {
  const { rows } = await pool.query<{ webhook_secret: string }>(
    'select webhook_secret from credit_alerts where organization_id = $1',
    [organizationId],
  );
  return rows[0]?.webhook_secret ?? '';
}

let audits = 0;
const auditFor = (organizationId: string): AuditEntry => {
  audits += 1;
  return {
    id: `aud-${audits}`,
    createdAt: 0 as UnixMs,
    actor: { id: 'mem-1', label: 'ada@example.com', ipAddress: '' },
    organizationId,
    action: 'credit_alert.set',
    target: organizationId,
    details: {},
  };
};

async function setWebhook(organizationId: string): Promise<void> {
  const webhook = { webhookUrl: 'https://hooks.example/a' };
  await storeWith(keys[0]).setAlert(organizationId, webhook, SECRET, auditFor(organizationId));
}

it('a change of one setting of the alerts keeps the others, and null removes one', async () => {
  const store = storeWith(keys[0]);
  const change = (changes: Parameters<typeof store.setAlert>[1]) =>
    store.setAlert('org-alert', changes, SECRET, auditFor('org-alert'));
  const all = {
    thresholdNanoUsd: nanoUsd(5n),
    webhookUrl: 'https://hooks.example/a',
    emails: ['a@b.example'],
  };
  const settings = { ...all, budgetShares: [50] };
  await change(settings);
  const others = [
    { thresholdNanoUsd: nanoUsd(6n) },
    { webhookUrl: 'https://hooks.example/b' },
    { emails: ['c@d.example'] },
    { budgetShares: [] },
  ];
  for (const changes of others) {
    expect((await change(changes)).alert).toMatchObject({ ...settings, ...changes });
    await change(settings);
  }
  const { secret } = await change({});
  expect(secret).toBeUndefined();
  await Promise.all(others.map((changes) => change(changes)));
  expect((await change({})).alert).toMatchObject(Object.assign({}, ...others));
  const removed = { thresholdNanoUsd: undefined, webhookUrl: undefined };
  expect((await change({ thresholdNanoUsd: null, webhookUrl: null })).alert).toMatchObject(removed);
});

describe('the secret of a webhook', () => {
  it('is stored encrypted, for its organization only', async () => {
    await setWebhook('org-1');
    await setWebhook('org-2');
    expect(await storedOf('org-1')).toMatch(/^enc1\./);
    expect((await storeWith(keys[0]).readRecipients('org-1'))?.webhookSecret).toBe(SECRET);
    await pool.query("update credit_alerts set webhook_secret = $1 where organization_id = 'org-2'", [
      await storedOf('org-1'),
    ]);
    expect((await storeWith(keys[0]).readRecipients('org-2'))?.webhookSecret).toBeUndefined();
  });

  it('is not read as plaintext, nor without a key', async () => {
    await setWebhook('org-3');
    expect((await storeWith().readRecipients('org-3'))?.webhookSecret).toBeUndefined();
    expect(storeWith().storesWebhooks).toBe(false);
    await pool.query(
      "update credit_alerts set webhook_secret = 'whsec_known' where organization_id = 'org-3'",
    );
    expect((await storeWith(keys[0]).readRecipients('org-3'))?.webhookSecret).toBeUndefined();
  });

  it('is encrypted again with a new key', async () => {
    await setWebhook('org-4');
    await storeWith(keys[1], keys[0]).watch();
    expect((await storeWith(keys[1]).readRecipients('org-4'))?.webhookSecret).toBe(SECRET);
  });
});
