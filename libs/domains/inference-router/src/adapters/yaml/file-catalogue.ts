import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Catalogue } from '../../core/catalogue/model-catalogue';
import type { CatalogueSource, CatalogueStatus } from '../../core/ports';
import { CatalogueError, parseCatalogue } from './parse-catalogue';
import type { ProcessSecrets } from './secrets';

const DEFAULT_POLL_MS = 2_000;

export interface FileCatalogueOptions {
  readonly path: string;
  /** Values for `${NAME}` in a base_url, such as MODEL_EMULATOR_URL. */
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: ProcessSecrets;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often the file is checked for changes, in milliseconds. */
  readonly pollMs?: number;
}

export interface FileCatalogue extends CatalogueSource {
  /** Reads the file now. @returns whether the catalogue changed. */
  reload(): Promise<boolean>;
}

/**
 * The catalogue of a YAML file. The file and the key files that it names are
 * polled, since file events are lost on mounted volumes. A change that is not
 * valid is logged, and the previous catalogue stays active.
 */
export function createFileCatalogue(options: FileCatalogueOptions): FileCatalogue {
  const { path, variables, secrets, clock, log, pollMs = DEFAULT_POLL_MS } = options;
  const listeners = new Set<() => void>();
  let current: Catalogue | undefined;
  let lastText: string | undefined;
  /** The last contents of the key files. */
  let lastKeys: ReadonlyMap<string, string | undefined> = new Map();
  let loggedError: string | undefined;
  let activeText: string | undefined;
  let loaded: Pick<CatalogueStatus, 'sha256' | 'loadedAt'> | undefined;
  let rejected: CatalogueStatus['rejected'];
  let timer: NodeJS.Timeout | undefined;

  /** Versions also ascend across restarts, so that watchers can compare them. */
  function nextVersion(): number {
    return Math.max(clock.now(), (current?.version ?? 0) + 1);
  }

  async function load(): Promise<boolean> {
    const text = await readFile(path, 'utf8');
    loggedError = undefined;
    if (text === lastText && [...lastKeys].every(([file, key]) => secrets.fromFile(file) === key)) {
      // The file is readable again and unchanged.
      if (text === activeText) rejected = undefined;
      return false;
    }
    lastText = text;
    const keys = new Map<string, string | undefined>();
    lastKeys = keys;
    const fromFile = (file: string): string | undefined => {
      const key = secrets.fromFile(file);
      keys.set(file, key);
      return key;
    };
    const parsed = parseCatalogue(text, {
      version: nextVersion(),
      variables,
      secrets: { ...secrets, fromFile },
    });
    current = parsed;
    activeText = text;
    loaded = { sha256: createHash('sha256').update(text).digest('hex'), loadedAt: clock.now() };
    rejected = undefined;
    log.info(
      { path, models: parsed.models.size, providers: parsed.providers.size, version: parsed.version },
      'catalogue loaded',
    );
    return true;
  }

  /** Logs an error once, not at every poll. */
  function reject(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message === loggedError) return;
    loggedError = message;
    rejected = { since: clock.now(), issues: issuesOf(error) };
    const details = error instanceof CatalogueError ? { issues: error.issues } : { err: error };
    log.error({ path, ...details }, 'the models file is not valid; the previous catalogue stays active');
  }

  async function reload(): Promise<boolean> {
    try {
      if (!(await load())) return false;
    } catch (error) {
      reject(error);
      return false;
    }
    for (const listener of [...listeners]) listener();
    return true;
  }

  function schedule(): void {
    timer = setTimeout(() => void reload().then(() => timer && schedule()), pollMs);
    timer.unref();
  }

  return {
    async start() {
      if (timer) return;
      lastText = undefined;
      await load();
      schedule();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      return Promise.resolve();
    },
    current() {
      if (!current) throw new Error('the catalogue is not loaded yet');
      return current;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status() {
      if (!loaded || activeText === undefined) throw new Error('the catalogue is not loaded yet');
      return { file: basename(path), text: activeText, ...loaded, rejected };
    },
    reload,
  };
}

/** The details of any other error, such as a failed read, are only in the log. */
function issuesOf(error: unknown): NonNullable<CatalogueStatus['rejected']>['issues'] {
  if (!(error instanceof CatalogueError)) return [{ message: 'The file cannot be read.', line: undefined }];
  return error.issuesByLine;
}
