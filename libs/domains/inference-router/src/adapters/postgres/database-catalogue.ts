import { createHash } from 'node:crypto';
import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { CatalogueIssue, CatalogueStore, CatalogueTexts } from '../../core/catalogue/managed-catalogue';
import type { Catalogue } from '../../core/catalogue/model-catalogue';
import type { CatalogueSource, CatalogueStatus } from '../../core/ports';

/** A change is active in every router within this time, plus the time to read it. */
const DEFAULT_POLL_MS = 500;
const REPORT_INTERVAL_MS = 10_000;

export interface DatabaseCatalogueOptions {
  readonly store: CatalogueStore;
  readonly texts: CatalogueTexts;
  /** Called at the start, before the catalogue is read. */
  readonly prepare: () => Promise<void>;
  /** Identifies this replica. */
  readonly processName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pollMs?: number;
}

interface Active {
  readonly catalogue: Catalogue;
  /** 0 before the first version. */
  readonly version: number;
  readonly status: Pick<CatalogueStatus, 'text' | 'sha256' | 'loadedAt'>;
}

/**
 * The version of the catalogue that is published in the database. While the database is unavailable, or when a version
 * cannot be loaded, the previous one stays active.
 */
export function createDatabaseCatalogue(options: DatabaseCatalogueOptions): CatalogueSource {
  const { store, texts, prepare, processName, clock, log, pollMs = DEFAULT_POLL_MS } = options;
  const listeners = new Set<() => void>();
  let active: Active | undefined;
  let lastSequence: bigint | undefined;
  let rejected: (NonNullable<CatalogueStatus['rejected']> & { readonly version: number }) | undefined;
  let reportedAt = 0;
  let isUnavailable = false;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> = Promise.resolve();

  async function load(): Promise<void> {
    const { sequence, version, secrets } = await store.readPublished();
    lastSequence = sequence;
    const text = version?.text ?? '';
    const checked = version
      ? texts.check(text, secrets)
      : { ok: true as const, catalogue: EMPTY, secretOrigins: new Map() };
    if (!checked.ok) {
      reject(version?.version ?? 0, checked.issues);
      return;
    }
    const now = clock.now();
    active = {
      // Versions for watchers also ascend across restarts, and with each change of a secret.
      catalogue: { ...checked.catalogue, version: Math.max(now, (active?.catalogue.version ?? 0) + 1) },
      version: version?.version ?? 0,
      status: { text, sha256: createHash('sha256').update(text).digest('hex'), loadedAt: now },
    };
    rejected = undefined;
    reportedAt = 0;
    const { models, providers } = active.catalogue;
    log.info({ version: active.version, models: models.size, providers: providers.size }, 'catalogue loaded');
  }

  function reject(version: number, issues: readonly CatalogueIssue[]): void {
    rejected = { since: clock.now(), issues, version };
    reportedAt = 0;
    log.error(
      { version, issues: issues.map(({ message }) => message) },
      'the published catalogue cannot be loaded; the previous one stays active',
    );
  }

  async function poll(): Promise<void> {
    try {
      const before = active;
      if ((await store.sequence()) !== lastSequence) await load();
      if (active !== before) for (const listener of [...listeners]) listener();
      await report();
      isUnavailable = false;
    } catch (error) {
      if (!isUnavailable) log.warn({ err: error }, 'the catalogue cannot be read; the last one stays active');
      isUnavailable = true;
    }
  }

  async function report(): Promise<void> {
    const now = clock.now();
    if (!active || now - reportedAt < REPORT_INTERVAL_MS) return;
    const { version, status } = active;
    await store.report({
      router: processName,
      version,
      loadedAt: status.loadedAt,
      reportedAt: now,
      rejectedVersion: rejected?.version,
    });
    reportedAt = now;
  }

  function schedule(): void {
    timer = setTimeout(() => {
      polling = poll().then(() => {
        if (timer) schedule();
      });
    }, pollMs);
    timer.unref();
  }

  return {
    async start() {
      if (timer) return;
      await prepare();
      await load();
      if (!active) throw new CatalogueNotLoaded(rejected?.issues ?? []);
      await report();
      schedule();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await polling;
    },
    current() {
      if (!active) throw new Error('the catalogue is not loaded yet');
      return active.catalogue;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status() {
      if (!active) throw new Error('the catalogue is not loaded yet');
      return { file: '', ...active.status, publishedVersion: active.version, rejected };
    },
  };
}

const EMPTY: Catalogue = { version: 0, models: new Map(), providers: new Map() };

/** The published catalogue cannot be loaded, and there is no previous one. */
class CatalogueNotLoaded extends Error {
  override readonly name = 'CatalogueNotLoaded';

  constructor(issues: readonly CatalogueIssue[]) {
    super(
      `the published catalogue has ${issues.length} issue(s):\n${issues.map(({ message }) => `  - ${message}`).join('\n')}`,
    );
  }
}
