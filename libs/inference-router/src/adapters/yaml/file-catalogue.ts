import { readFile } from 'node:fs/promises';
import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Catalogue } from '../../core/catalogue/model-catalogue';
import type { CatalogueSource } from '../../core/ports';
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
 * The catalogue of a YAML file, read again when its text changes. It is looked
 * at from time to time, since file events are lost on mounted configuration. A
 * changed file with faults is logged, and the catalogue before it stays.
 */
export function createFileCatalogue(options: FileCatalogueOptions): FileCatalogue {
  const { path, variables, secrets, clock, log, pollMs = DEFAULT_POLL_MS } = options;
  const listeners = new Set<() => void>();
  let current: Catalogue | undefined;
  let seenText: string | undefined;
  let loggedFault: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** Versions ascend across restarts as well, so that watchers can compare them. */
  function nextVersion(): number {
    return Math.max(clock.now(), (current?.version ?? 0) + 1);
  }

  async function load(): Promise<boolean> {
    const text = await readFile(path, 'utf8');
    loggedFault = undefined;
    if (text === seenText) return false;
    seenText = text;
    current = parseCatalogue(text, { version: nextVersion(), variables, secrets });
    log.info(
      { path, models: current.models.size, providers: current.providers.size, version: current.version },
      'catalogue loaded',
    );
    return true;
  }

  /** Once, and not again every time the same file is looked at. */
  function logFault(error: unknown): void {
    const fault = error instanceof Error ? error.message : String(error);
    if (fault === loggedFault) return;
    loggedFault = fault;
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
    reload,
  };
}
