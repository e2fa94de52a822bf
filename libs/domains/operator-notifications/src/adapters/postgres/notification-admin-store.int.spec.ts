import { AUTH_SCHEMA, authSchema } from '@gateway/auth-shared/adapters';
import type { AuditEntry, UnixMs } from '@gateway/base';
import { applyMigrations, createPool } from '@gateway/database';
import { createSilentLogger, newId } from '@gateway/runtime';
import { createEncryptionKey, createSecretCipher } from '@gateway/secrets';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { DEFAULT_TIMING } from '../../core/incident-rule';
import { MAX_TESTS_PER_HOUR } from '../../core/notification';
import { createPostgresIncidentStore } from './incident-store';
import { createNotificationAdminStore } from './notification-admin-store';

const WEBHOOK = { url: 'https://hooks.example.com/path', secret: 'whsec_x' };
const CHANGE = { emailEnabled: true, extraEmails: ['team@example.com'] };

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: AUTH_SCHEMA, applicationName: 'test', maxConnections: 2 });
  await applyMigrations(pool, authSchema);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const open = (keys: readonly string[] | undefined) =>
  createNotificationAdminStore({
    pool,
    cipher: keys && createSecretCipher(keys),
    log: createSilentLogger(),
    currentMs: DEFAULT_TIMING.currentMs,
  });
const audit = (): AuditEntry => ({
  id: newId('aud'),
  createdAt: 1 as UnixMs,
  actor: { id: 'mem-1', label: 'ops@example.com', ipAddress: '' },
  action: 'operator_notifications.set',
  target: 'operator_notifications',
  details: {},
});
const storedWebhook = async () =>
  (await pool.query<{ webhook: string | null }>('select webhook from notification_settings')).rows[0]
    ?.webhook;

it('the webhook is encrypted, and again with a new key', async () => {
  const [before, now] = [createEncryptionKey(), createEncryptionKey()];
  await open([before]).setSettings({ ...CHANGE, webhook: WEBHOOK }, audit);
  const encrypted = await storedWebhook();
  expect(encrypted).not.toContain('hooks.example.com');
  expect((await open([now, before]).readRecipients()).settings).toEqual({ ...CHANGE, webhook: WEBHOOK });
  expect(await storedWebhook()).not.toBe(encrypted);
  expect((await open([now]).readRecipients()).settings.webhook).toEqual(WEBHOOK);
});

it('a change of other settings keeps the webhook, also without its key', async () => {
  await open([createEncryptionKey()]).setSettings({ ...CHANGE, webhook: WEBHOOK }, audit);
  const encrypted = await storedWebhook();
  await open(undefined).setSettings({ ...CHANGE, emailEnabled: false, webhook: undefined }, audit);
  expect(await storedWebhook()).toBe(encrypted);
  await open(undefined).setSettings({ ...CHANGE, webhook: null }, audit);
  expect(await storedWebhook()).toBeNull();
});

it('a change of one setting keeps the others', async () => {
  const store = open([createEncryptionKey()]);
  const stored = { ...CHANGE, webhook: WEBHOOK };
  await store.setSettings(stored, audit);
  expect(await store.setSettings({}, audit)).toEqual(stored);
  expect(await store.setSettings({ emailEnabled: false }, audit)).toEqual({ ...stored, emailEnabled: false });
  const { settings } = await store.readRecipients();
  expect(settings).toEqual({ ...stored, emailEnabled: false });
  expect(await store.setSettings({ extraEmails: [] }, audit)).toEqual({ ...settings, extraEmails: [] });
});

it('an incident that ended before operators were notified is not listed', async () => {
  const incidents = createPostgresIncidentStore({ pool, timing: DEFAULT_TIMING, newId: () => newId('ntf') });
  await incidents.report([{ cause: 'dead_letters', subject: 's', details: 'd' }]);
  expect(await open(undefined).listIncidents()).toHaveLength(1);
  await pool.query(`update incidents set last_reported_at = now() - interval '26 seconds'`);
  expect(await open(undefined).listIncidents()).toEqual([]);
});

it('tests are limited to ten an hour, and a refused one leaves no audit entry', async () => {
  const store = open(undefined);
  const test = () =>
    store.storeTest(
      { id: newId('ntf'), createdAt: Date.now() as UnixMs, kind: 'test', cause: undefined, subjects: [] },
      ['webhook'],
      { ...audit(), action: 'operator_notifications.test' },
    );
  for (let sent = 0; sent < MAX_TESTS_PER_HOUR; sent += 1) expect(await test()).toBe('stored');
  expect(await test()).toBe('too_many');
  const { rowCount } = await pool.query(
    `select from audit_entries where action = 'operator_notifications.test'`,
  );
  expect(rowCount).toBe(MAX_TESTS_PER_HOUR);
  expect(await store.listNotifications(3)).toMatchObject(
    Array.from({ length: 3 }, () => ({ kind: 'test', deliveries: [{ recipient: 'webhook' }] })),
  );
});
