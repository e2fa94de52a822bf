import { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from '@gateway/billing-ledger';
import type { UnixMs } from '@gateway/base';
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

async function setWebhook(organizationId: string): Promise<void> {
  const audit = {
    id: `aud-${organizationId}`,
    createdAt: 0 as UnixMs,
    actor: { id: 'mem-1', label: 'ada@example.com', ipAddress: '', role: undefined },
    organizationId,
    action: 'credit_alert.set',
    target: organizationId,
    details: {},
  };
  const alert = { thresholdNanoUsd: undefined, webhookUrl: 'https://hooks.example/a', emails: [] };
  await storeWith(keys[0]).setAlert(
    organizationId,
    { ...alert, keepsWebhook: false, budgetShares: undefined },
    SECRET,
    audit,
  );
}

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
