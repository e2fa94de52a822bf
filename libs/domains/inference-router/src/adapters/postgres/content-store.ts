import { insertAuditEntry } from '@gateway/audit';
import { createLogSampler, DAY_MS, type Clock, type SecretCipher, type UnixMs } from '@gateway/base';
import { inTransaction, plainArray, textArray } from '@gateway/database';
import { createEncryptionKey, createSecretCipher } from '@gateway/secrets';
import type { Logger } from '@gateway/runtime';
import type { ClientBase, Pool } from 'pg';
import type { CutText, GenerationContent } from '../../core/content-log/content';
import {
  DEFAULT_RETENTION_DAYS,
  type ContentLogSettings,
  type ContentStore,
} from '../../core/content-log/ports';
import { INFERENCE_ROUTER_SCHEMA } from './sql/schema';

const LOG_INTERVAL_MS = 60_000;
/** Rows deleted per statement. */
const MAX_DELETED_ROWS = 1_000;

export interface ContentStoreOptions {
  readonly pool: Pool;
  /** Encrypts the keys of organizations. */
  readonly cipher: SecretCipher;
  readonly clock: Clock;
  /** The platform's maximum; a longer retention of an organization counts as this one. */
  readonly maxRetentionDays: number;
  readonly log: Logger;
}

/** What is encrypted. */
interface Contents {
  readonly request: CutText;
  readonly response?: CutText | undefined;
}

/** Locks the organization, so that a change of its settings waits for the insert, or the insert for it. */
const INSERT = `
  with allowed as (
    select organization_id, since_unix_ms, key_number from content_logs
    where enabled and organization_id = any ($1::text[])
    for share
  )
  insert into generation_contents (organization_id, generation_id, created_unix_ms, key_number, encrypted)
  select organization_id, generation_id, created_unix_ms, key_number, encrypted
  from unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::text[])
    as given (organization_id, generation_id, created_unix_ms, key_number, encrypted)
  join allowed using (organization_id, key_number)
  where created_unix_ms >= since_unix_ms
  on conflict do nothing`;

/** $1 organization. */
const DELETE_UNREADABLE = `
  delete from generation_contents where organization_id = $1 and generation_id in (
    select generation_id from generation_contents content join content_logs log using (organization_id)
    where organization_id = $1 and content.key_number < log.key_number
    limit ${MAX_DELETED_ROWS}
  )`;

/** $1 now, $2 the maximum of days. Also what cannot be read any more, in case an erasure was interrupted. */
const DELETE_EXPIRED = `
  delete from generation_contents where (organization_id, generation_id) in (
    select old.organization_id, old.generation_id
    from content_logs log
    cross join lateral (
      (
        select organization_id, generation_id from generation_contents content
        where content.organization_id = log.organization_id and content.key_number < log.key_number
        limit ${MAX_DELETED_ROWS}
      ) union all (
        select organization_id, generation_id from generation_contents content
        where content.organization_id = log.organization_id and content.key_number = log.key_number
          and content.created_unix_ms < $1::bigint - least(log.retention_days, $2::integer)::bigint * ${DAY_MS}
        limit ${MAX_DELETED_ROWS}
      )
    ) old
    limit ${MAX_DELETED_ROWS}
  )`;

interface LogRow {
  readonly enabled: boolean;
  readonly retention_days: number;
  readonly since_unix_ms: bigint;
  readonly encrypted_key: string;
  readonly key_number: number;
}

/**
 * Content in PostgreSQL. Each organization has a key of its own, so that a rotation of
 * the secrets key encrypts a few keys again, and an erasure makes every copy of a row
 * unreadable by replacing the key.
 */
export function createPostgresContentStore({
  pool,
  cipher,
  clock,
  maxRetentionDays,
  log,
}: ContentStoreOptions): ContentStore {
  const sampler = createLogSampler(() => performance.now(), { everyMs: LOG_INTERVAL_MS });
  const newKey = (organizationId: string) => cipher.encrypt(createEncryptionKey(), contextOf(organizationId));
  const decryptKey = (organizationId: string, encryptedKey: string) =>
    cipher.decrypt(encryptedKey, contextOf(organizationId));
  const cipherOf = (organizationId: string, encryptedKey: string) =>
    createSecretCipher([decryptKey(organizationId, encryptedKey)]);

  /** Empty for a key that cannot be decrypted, so that the other organizations are not affected. */
  function withKey<Result>(organizationId: string, use: () => Result): readonly Result[] {
    try {
      return [use()];
    } catch (error) {
      const suppressed = sampler.sample('key');
      if (suppressed !== undefined)
        log.error(
          { err: error, organizationId, suppressed },
          'the key of a content log cannot be decrypted: check GATEWAY_SECRETS_KEY',
        );
      return [];
    }
  }

  /** From now on, no stored content can be decrypted, and none of earlier generations is stored. */
  async function replaceKey(client: ClientBase, organizationId: string): Promise<void> {
    await client.query(
      `update content_logs
       set since_unix_ms = greatest(since_unix_ms, $2), encrypted_key = $3, key_number = key_number + 1
       where organization_id = $1`,
      // A generation that was admitted in this millisecond may have been stored already.
      [organizationId, clock.now() + 1, newKey(organizationId)],
    );
  }

  async function deleteUnreadable(organizationId: string): Promise<void> {
    const remove = () => pool.query(DELETE_UNREADABLE, [organizationId]);
    while ((await remove()).rowCount === MAX_DELETED_ROWS);
  }

  return {
    async enabled() {
      const { rows } = await pool.query<{ organization_id: string }>(
        'select organization_id from content_logs where enabled',
      );
      return new Set(rows.map((row) => row.organization_id));
    },

    async state(organizationId) {
      const { rows } = await pool.query<LogRow & { readonly has_contents: boolean }>(
        `select enabled, retention_days, exists (
           select from generation_contents content
           where content.organization_id = log.organization_id and content.key_number = log.key_number
         ) as has_contents
         from content_logs log where organization_id = $1`,
        [organizationId],
      );
      return rows[0] && { ...settingsOf(rows[0]), hasContents: rows[0].has_contents };
    },

    async store(contents) {
      const organizationIds = [...new Set(contents.map(({ organizationId }) => organizationId))];
      const { rows } = await pool.query<LogRow & { readonly organization_id: string }>(
        'select organization_id, encrypted_key, key_number from content_logs where enabled and organization_id = any ($1)',
        [organizationIds],
      );
      const keys = new Map(
        rows.flatMap((row) => {
          const { organization_id: id, encrypted_key: key, key_number: keyNumber } = row;
          return withKey(id, () => [id, { keyNumber, cipher: cipherOf(id, key) }] as const);
        }),
      );
      const encrypted = contents.flatMap((content) => {
        const key = keys.get(content.organizationId);
        return key ? [{ ...content, keyNumber: key.keyNumber, encrypted: encrypt(key.cipher, content) }] : [];
      });
      if (encrypted.length === 0) return 0;
      const { rowCount } = await pool.query(INSERT, [
        textArray(encrypted, ({ organizationId }) => organizationId),
        textArray(encrypted, ({ generationId }) => generationId),
        plainArray(encrypted, ({ createdAt }) => createdAt),
        plainArray(encrypted, ({ keyNumber }) => keyNumber),
        textArray(encrypted, (content) => content.encrypted),
      ]);
      return rowCount ?? 0;
    },

    async set({ organizationId, erase, ...changes }, auditOf) {
      await inTransaction(pool, async (client) => {
        await client.query(
          `insert into content_logs (organization_id, enabled, retention_days, since_unix_ms, encrypted_key)
           values ($1, false, $2, 0, $3) on conflict do nothing`,
          [organizationId, DEFAULT_RETENTION_DAYS, newKey(organizationId)],
        );
        const { rows } = await client.query<LogRow>(
          'select enabled, retention_days, since_unix_ms from content_logs where organization_id = $1 for update',
          [organizationId],
        );
        const [row] = rows;
        if (!row) throw new Error('the content log of the organization was deleted');
        const before = settingsOf(row);
        const after = {
          enabled: changes.enabled ?? before.enabled,
          retentionDays: changes.retentionDays ?? before.retentionDays,
        };
        const { enabled, retentionDays } = after;
        const isSame = before.enabled === enabled && before.retentionDays === retentionDays;
        if (isSame && !erase) return;
        await client.query(
          `update content_logs set enabled = $2, retention_days = $3, since_unix_ms = $4 where organization_id = $1`,
          [organizationId, enabled, retentionDays, enabled && !row.enabled ? clock.now() : row.since_unix_ms],
        );
        if (erase) await replaceKey(client, organizationId);
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, auditOf(before, after));
      });
      if (erase) await deleteUnreadable(organizationId);
    },

    read: (organizationId, generationId, audit) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query<LogRow & { created_unix_ms: bigint; encrypted: string }>(
          `select created_unix_ms, encrypted, retention_days, encrypted_key
           from generation_contents join content_logs using (organization_id, key_number)
           where organization_id = $1 and generation_id = $2`,
          [organizationId, generationId],
        );
        const [row] = rows;
        if (!row) return undefined;
        const createdAt = Number(row.created_unix_ms) as UnixMs;
        const days = Math.min(row.retention_days, maxRetentionDays);
        const expiresAt = (createdAt + days * DAY_MS) as UnixMs;
        if (expiresAt <= clock.now()) return undefined;
        const text = cipherOf(organizationId, row.encrypted_key).decrypt(row.encrypted, generationId);
        const { request, response } = JSON.parse(text) as Contents;
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
        return { request, response, createdAt, expiresAt };
      }),

    eraseOne: (organizationId, generationId, audit) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'delete from generation_contents where organization_id = $1 and generation_id = $2',
          [organizationId, generationId],
        );
        if (!rowCount) return false;
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
        return true;
      }),

    async eraseAll(organizationId, audit) {
      await inTransaction(pool, async (client) => {
        await replaceKey(client, organizationId);
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
      });
      await deleteUnreadable(organizationId);
    },

    async deleteExpired() {
      let deleted = 0;
      for (;;) {
        const { rowCount } = await pool.query(DELETE_EXPIRED, [clock.now(), maxRetentionDays]);
        deleted += rowCount ?? 0;
        if (rowCount !== MAX_DELETED_ROWS) return deleted;
      }
    },

    async reencryptKeys() {
      const { rows } = await pool.query<{ organization_id: string; encrypted_key: string }>(
        'select organization_id, encrypted_key from content_logs where not starts_with(encrypted_key, $1)',
        [cipher.currentPrefix],
      );
      let reencrypted = 0;
      for (const { organization_id: id, encrypted_key: old } of rows) {
        for (const key of withKey(id, () => decryptKey(id, old))) {
          const { rowCount } = await pool.query(
            'update content_logs set encrypted_key = $3 where organization_id = $1 and encrypted_key = $2',
            [id, old, cipher.encrypt(key, contextOf(id))],
          );
          reencrypted += rowCount ?? 0;
        }
      }
      return reencrypted;
    },
  };
}

/** Authenticated with the key, so that it cannot be used as another secret. */
function contextOf(organizationId: string): string {
  return `content log ${organizationId}`;
}

function encrypt(cipher: SecretCipher, { generationId, request, response }: GenerationContent): string {
  return cipher.encrypt(JSON.stringify({ request, response } satisfies Contents), generationId);
}

function settingsOf({ enabled, retention_days: retentionDays }: LogRow): ContentLogSettings {
  return { enabled, retentionDays };
}
