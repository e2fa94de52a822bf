import { insertAuditEntry } from '@gateway/audit';
import type { SecretCipher, UnixMs } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import type { Logger } from '@gateway/runtime';
import type { ClientBase, Pool } from 'pg';
import type {
  CatalogueDraft,
  CatalogueStore,
  PublishedVersion,
  PublishOutcome,
  RouterReport,
  StoredSecret,
  VersionSource,
  VersionWithText,
} from '../../core/catalogue/managed-catalogue';
import { tieSecrets } from './secret-origins';
import { INFERENCE_ROUTER_SCHEMA } from './sql/schema';

/** The report of a removed router is deleted after a day. */
const REPORTS_KEPT_MS = 86_400_000;

const MIN_HINTED_CHARACTERS = 16;
const HINT_CHARACTERS = 4;

const VERSION = 'version, text, comment, published_unix_ms, published_by, restored_version';

export interface CatalogueStoreOptions {
  readonly pool: Pool;
  readonly cipher: SecretCipher;
  readonly log: Logger;
}

export interface PostgresCatalogueStore extends CatalogueStore {
  /** Encrypts secrets that use an older key with the current one. @returns how many. */
  reencryptSecrets(): Promise<number>;
}

/** The managed catalogue in PostgreSQL. */
export function createPostgresCatalogueStore({
  pool,
  cipher,
  log,
}: CatalogueStoreOptions): PostgresCatalogueStore {
  /** One change at a time, since each locks the same row. */
  function change<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result> {
    return inTransaction(pool, async (client) => {
      await client.query('select from catalogue_state for update');
      return work(client);
    });
  }

  function decryptAll(rows: readonly SecretRow[]): ReadonlyMap<string, string> {
    return new Map(
      rows.flatMap(({ name, encrypted }) => {
        try {
          return [[name, cipher.decrypt(encrypted, contextOf(name))] as const];
        } catch (error) {
          log.error({ err: error, secret: name }, 'a stored secret of a provider cannot be decrypted');
          return [];
        }
      }),
    );
  }

  return {
    async sequence() {
      const { rows } = await pool.query<{ sequence: bigint }>('select sequence from catalogue_state');
      return rows[0]?.sequence ?? 0n;
    },

    readPublished: () =>
      inTransaction(
        pool,
        async (client) => {
          const state = await client.query<{ sequence: bigint }>('select sequence from catalogue_state');
          const secrets = await client.query<SecretRow>('select name, encrypted from provider_secrets');
          return {
            sequence: state.rows[0]?.sequence ?? 0n,
            version: await latestVersion(client),
            secrets: decryptAll(secrets.rows),
          };
        },
        { isolation: 'repeatable read' },
      ),

    async listVersions({ limit, before }) {
      const { rows } = await pool.query<VersionRow>(
        `select version, comment, published_unix_ms, published_by, restored_version from catalogue_versions
         where $2::bigint is null or version < $2 order by version desc limit $1`,
        [limit, before ?? null],
      );
      return rows.map(versionOf);
    },

    findVersion: (version) => findVersion(pool, version),

    readDraft: () => readDraft(pool),

    saveDraft: (text, expectedRevision, { at, by, audit }) =>
      change(async (client) => {
        if ((await draftRevision(client)) !== expectedRevision) return 'conflict';
        const { rows } = await client.query<DraftRow>(
          `with next as (update catalogue_state set draft_revision = draft_revision + 1 returning draft_revision)
           insert into catalogue_draft (revision, text, saved_unix_ms, saved_by)
           select draft_revision, $1, $2, $3 from next
           on conflict (only_row) do update set
             revision = excluded.revision, text = excluded.text,
             saved_unix_ms = excluded.saved_unix_ms, saved_by = excluded.saved_by
           returning revision, text, saved_unix_ms, saved_by`,
          [text, at, by],
        );
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
        return draftOf(rows[0] as DraftRow);
      }),

    discardDraft: (expectedRevision, { audit }) =>
      change(async (client) => {
        if ((await draftRevision(client)) !== expectedRevision) return 'conflict';
        const { rowCount } = await client.query('delete from catalogue_draft');
        if (rowCount) await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
        return 'discarded';
      }),

    publish: ({ source, comment, expectedVersion, check }, { at, by, auditOf }) =>
      change(async (client): Promise<PublishOutcome> => {
        const current = (await latestVersion(client))?.version ?? 0;
        if (current !== expectedVersion) return { kind: 'conflict' };
        if (source.kind === 'draft' && (await draftRevision(client)) !== source.revision)
          return { kind: 'conflict' };
        const text = await textOf(client, source);
        if (text === undefined) return { kind: 'not_found' };
        const secrets = await client.query<SecretRow>('select name, encrypted from provider_secrets');
        const checked = check(text, decryptAll(secrets.rows));
        const issues = checked.ok ? await tieSecrets(client, checked.secretOrigins) : checked.issues;
        if (issues.length > 0) return { kind: 'invalid', issues };
        const version = current + 1;
        const restoredVersion = source.kind === 'version' ? source.version : undefined;
        await client.query(`insert into catalogue_versions (${VERSION}) values ($1, $2, $3, $4, $5, $6)`, [
          version,
          text,
          comment,
          at,
          by,
          restoredVersion ?? null,
        ]);
        if (source.kind === 'draft') await client.query('delete from catalogue_draft');
        await increaseSequence(client);
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, auditOf(version));
        return {
          kind: 'published',
          version: { version, comment, publishedAt: at, publishedBy: by, restoredVersion },
        };
      }),

    async listSecrets() {
      const { rows } = await pool.query<StoredSecretRow>(
        'select name, hint, changed_unix_ms, changed_by from provider_secrets order by name',
      );
      return rows.map(storedSecretOf);
    },

    setSecret: (name, value, { at, by, audit }) =>
      change(async (client) => {
        const hint = value.length < MIN_HINTED_CHARACTERS ? '' : value.slice(-HINT_CHARACTERS);
        const encrypted = cipher.encrypt(value, contextOf(name));
        await client.query(
          `insert into provider_secrets (name, encrypted, hint, changed_unix_ms, changed_by)
           values ($1, $2, $3, $4, $5)
           on conflict (name) do update set
             encrypted = excluded.encrypted, hint = excluded.hint, origins = null,
             changed_unix_ms = excluded.changed_unix_ms, changed_by = excluded.changed_by`,
          [name, encrypted, hint, at, by],
        );
        await increaseSequence(client);
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
        return { name, hint, changedAt: at, changedBy: by };
      }),

    deleteSecret: (name, isUsedBy, { audit }) =>
      change(async (client) => {
        const published = await latestVersion(client);
        if (published && isUsedBy(published.text)) return 'in_use';
        const { rowCount } = await client.query('delete from provider_secrets where name = $1', [name]);
        if (!rowCount) return 'not_found';
        await increaseSequence(client);
        await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
        return 'deleted';
      }),

    tieSecrets: (origins) => change((client) => tieSecrets(client, origins)),

    writeAudit: (entry) => insertAuditEntry(pool, INFERENCE_ROUTER_SCHEMA, entry),

    async report({ router, version, loadedAt, reportedAt, rejectedVersion }) {
      await pool.query(
        `with outdated as (delete from catalogue_routers where reported_unix_ms < $4::bigint - ${REPORTS_KEPT_MS} and router <> $1)
         insert into catalogue_routers (router, version, loaded_unix_ms, reported_unix_ms, rejected_version)
         values ($1, $2, $3, $4, $5)
         on conflict (router) do update set
           version = excluded.version, loaded_unix_ms = excluded.loaded_unix_ms,
           reported_unix_ms = excluded.reported_unix_ms, rejected_version = excluded.rejected_version`,
        [router, version, loadedAt, reportedAt, rejectedVersion ?? null],
      );
    },

    async listReports(since) {
      const { rows } = await pool.query<ReportRow>(
        `select router, version, loaded_unix_ms, reported_unix_ms, rejected_version from catalogue_routers
         where reported_unix_ms >= $1 order by router`,
        [since],
      );
      return rows.map(reportOf);
    },

    async reencryptSecrets() {
      const { rows } = await pool.query<SecretRow>(
        'select name, encrypted from provider_secrets where not starts_with(encrypted, $1)',
        [cipher.currentPrefix],
      );
      let reencrypted = 0;
      for (const [name, value] of decryptAll(rows)) {
        const before = rows.find((row) => row.name === name)?.encrypted;
        // Only if the stored secret is unchanged: an operator may have replaced it meanwhile.
        const { rowCount } = await pool.query(
          'update provider_secrets set encrypted = $3 where name = $1 and encrypted = $2',
          [name, before, cipher.encrypt(value, contextOf(name))],
        );
        reencrypted += rowCount ?? 0;
      }
      return reencrypted;
    },
  };
}

/** Authenticated with the encrypted value, so that it cannot be used as another secret. */
function contextOf(name: string): string {
  return `provider secret ${name}`;
}

async function increaseSequence(client: ClientBase): Promise<void> {
  await client.query('update catalogue_state set sequence = sequence + 1');
}

async function latestVersion(client: ClientBase): Promise<VersionWithText | undefined> {
  const { rows } = await client.query<VersionTextRow>(
    `select ${VERSION} from catalogue_versions order by version desc limit 1`,
  );
  return rows[0] && versionWithTextOf(rows[0]);
}

async function findVersion(client: ClientBase | Pool, version: number): Promise<VersionWithText | undefined> {
  const { rows } = await client.query<VersionTextRow>(
    `select ${VERSION} from catalogue_versions where version = $1`,
    [version],
  );
  return rows[0] && versionWithTextOf(rows[0]);
}

async function textOf(client: ClientBase, source: VersionSource): Promise<string | undefined> {
  switch (source.kind) {
    case 'text':
      return source.text;
    case 'draft':
      return (await readDraft(client))?.text;
    case 'version':
      return (await findVersion(client, source.version))?.text;
  }
}

async function readDraft(client: ClientBase | Pool): Promise<CatalogueDraft | undefined> {
  const { rows } = await client.query<DraftRow>(
    'select revision, text, saved_unix_ms, saved_by from catalogue_draft',
  );
  return rows[0] && draftOf(rows[0]);
}

/** 0 without a draft. */
async function draftRevision(client: ClientBase): Promise<number> {
  return (await readDraft(client))?.revision ?? 0;
}

interface VersionRow {
  readonly version: bigint;
  readonly comment: string;
  readonly published_unix_ms: bigint;
  readonly published_by: string;
  readonly restored_version: bigint | null;
}

interface VersionTextRow extends VersionRow {
  readonly text: string;
}

interface DraftRow {
  readonly revision: bigint;
  readonly text: string;
  readonly saved_unix_ms: bigint;
  readonly saved_by: string;
}

interface SecretRow {
  readonly name: string;
  readonly encrypted: string;
}

interface StoredSecretRow {
  readonly name: string;
  readonly hint: string;
  readonly changed_unix_ms: bigint;
  readonly changed_by: string;
}

interface ReportRow {
  readonly router: string;
  readonly version: bigint;
  readonly loaded_unix_ms: bigint;
  readonly reported_unix_ms: bigint;
  readonly rejected_version: bigint | null;
}

function timeOf(unixMs: bigint): UnixMs {
  return Number(unixMs) as UnixMs;
}

function numberOf(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}

function versionOf(row: VersionRow): PublishedVersion {
  return {
    version: Number(row.version),
    comment: row.comment,
    publishedAt: timeOf(row.published_unix_ms),
    publishedBy: row.published_by,
    restoredVersion: numberOf(row.restored_version),
  };
}

function versionWithTextOf(row: VersionTextRow): VersionWithText {
  return { ...versionOf(row), text: row.text };
}

function draftOf(row: DraftRow): CatalogueDraft {
  return {
    revision: Number(row.revision),
    text: row.text,
    savedAt: timeOf(row.saved_unix_ms),
    savedBy: row.saved_by,
  };
}

function storedSecretOf(row: StoredSecretRow): StoredSecret {
  return {
    name: row.name,
    hint: row.hint,
    changedAt: timeOf(row.changed_unix_ms),
    changedBy: row.changed_by,
  };
}

function reportOf(row: ReportRow): RouterReport {
  return {
    router: row.router,
    version: Number(row.version),
    loadedAt: timeOf(row.loaded_unix_ms),
    reportedAt: timeOf(row.reported_unix_ms),
    rejectedVersion: numberOf(row.rejected_version),
  };
}
