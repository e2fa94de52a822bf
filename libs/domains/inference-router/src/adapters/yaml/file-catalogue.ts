import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Catalogue } from '../../core/catalogue/model-catalogue';
import type { CatalogueSource, CatalogueStatus } from '../../core/ports';
import { CatalogueError, parseCatalogue, type Secrets } from './parse-catalogue';

const DEFAULT_POLL_MS = 2_000;

export interface FileCatalogueOptions {
  readonly path: string;
  /** Values for `${NAME}` in a base_url, such as MODEL_EMULATOR_URL. */
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often the file is looked at. */
  readonly pollMs?: number;
}

export interface FileCatalogue extends CatalogueSource {
  /** Reads the file now. @returns whether another catalogue is in force since. */
  reload(): Promise<boolean>;
}

/**
 * The catalogue of a YAML file, read again when its text changes, or a file that
 * it names for a key. They are looked at from time to time, since file events are lost on mounted configuration. A
 * changed file with faults is logged, and the catalogue before it stays.
 */
export function createFileCatalogue(options: FileCatalogueOptions): FileCatalogue {
  const { path, variables, secrets, clock, log, pollMs = DEFAULT_POLL_MS } = options;
  const listeners = new Set<() => void>();
  let current: Catalogue | undefined;
  let seenText: string | undefined;
  /** What the files held that it names. */
  let seenKeys: ReadonlyMap<string, string | undefined> = new Map();
  let loggedFault: string | undefined;
  let textInForce: string | undefined;
  let loaded: Pick<CatalogueStatus, 'sha256' | 'loadedAt'> | undefined;
  let refused: CatalogueStatus['refused'];
  let timer: NodeJS.Timeout | undefined;

  /** Versions ascend across restarts as well, so that watchers can compare them. */
  function nextVersion(): number {
    return Math.max(clock.now(), (current?.version ?? 0) + 1);
  }

  async function load(): Promise<boolean> {
    const text = await readFile(path, 'utf8');
    loggedFault = undefined;
    if (text === seenText && [...seenKeys].every(([file, key]) => secrets.fromFile(file) === key)) {
      // It could not be read for a while, and is what it was.
      if (text === textInForce) refused = undefined;
      return false;
    }
    seenText = text;
    const keys = new Map<string, string | undefined>();
    seenKeys = keys;
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
    textInForce = text;
    loaded = { sha256: createHash('sha256').update(text).digest('hex'), loadedAt: clock.now() };
    refused = undefined;
    log.info(
      { path, models: parsed.models.size, providers: parsed.providers.size, version: parsed.version },
      'catalogue loaded',
    );
    return true;
  }

  /** Once, and not again every time the same file is looked at. */
  function logFault(error: unknown): void {
    const fault = error instanceof Error ? error.message : String(error);
    if (fault === loggedFault) return;
    loggedFault = fault;
    refused = { since: clock.now(), faults: faultsOf(error) };
    const faults = error instanceof CatalogueError ? { faults: error.faults } : { err: error };
    log.error({ path, ...faults }, 'the models file cannot be used; the catalogue before it stays');
  }

  async function reload(): Promise<boolean> {
    try {
      if (!(await load())) return false;
    } catch (error) {
      logFault(error);
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
      seenText = undefined;
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
      if (!loaded) throw new Error('the catalogue is not loaded yet');
      return { file: basename(path), ...loaded, refused };
    },
    reload,
  };
}

/** What else is wrong with a file, such as that it cannot be read, is told in the log with all there is to it. */
function faultsOf(error: unknown): NonNullable<CatalogueStatus['refused']>['faults'] {
  if (!(error instanceof CatalogueError)) return [{ message: 'The file cannot be read.', line: undefined }];
  return error.faults.map((message) => {
    const line = /\(line (\d+)\)/.exec(message)?.[1];
    return { message, line: line === undefined ? undefined : Number(line) };
  });
}
