import { createLogSampler, HOUR_MS } from '@gateway/base';
import { createPeriodicTask, type Logger } from '@gateway/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import { contentOf, type GenerationContent } from '../core/content-log/content';
import type { ContentRecorder, ContentStore } from '../core/content-log/ports';

/** How often each router reads which organizations have it on. */
const POLL_MS = 2_000;
const DELETION_INTERVAL_MS = HOUR_MS;
/** Content that is queued for the database. Further content is dropped. */
const MAX_QUEUED_CHARACTERS = 32 * 1024 * 1024;
const MAX_BATCH = { contents: 100, characters: 4 * 1024 * 1024 };
/** Between attempts to store a batch, and for the last attempt at a stop. */
const RETRY_MS = 1_000;
const MAX_ATTEMPTS = 5;
const LOG_INTERVAL_MS = 60_000;

type Result = 'stored' | 'not_stored' | 'dropped';

export interface ContentRecorderPorts {
  readonly store: ContentStore;
  /** The maximum size of a prompt, and of a response. */
  readonly maxBytes: number;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly pollMs?: number;
}

export interface RunningContentRecorder extends ContentRecorder {
  start(): Promise<void>;
  /** Stores what is queued, or drops it if the database is unavailable. */
  stop(): Promise<void>;
  /** Reads again which organizations have it on. */
  refresh(): Promise<void>;
}

/** Stores content in the background: no request waits for it, and none fails because of it. */
export function createContentRecorder(ports: ContentRecorderPorts): RunningContentRecorder {
  const { store, maxBytes, log, metrics } = ports;
  const sampler = createLogSampler(() => performance.now(), { everyMs: LOG_INTERVAL_MS });
  const count = createCounts(metrics, () => queuedCharacters);
  let enabled: ReadonlySet<string> = new Set();
  let queue: GenerationContent[] = [];
  let queuedCharacters = 0;
  let storing: Promise<void> | undefined;
  let firstDeletion: Promise<void> | undefined;
  let stopped = false;

  const polling = createPeriodicTask(refresh, ports.pollMs ?? POLL_MS);
  const deleting = createPeriodicTask(deleteExpired, DELETION_INTERVAL_MS);

  async function refresh(): Promise<void> {
    try {
      enabled = await store.enabled();
    } catch (error) {
      warn('the organizations with a content log cannot be read; the last state stays in effect', error);
    }
  }

  async function reencryptKeys(): Promise<void> {
    try {
      const reencrypted = await store.reencryptKeys();
      if (reencrypted > 0)
        log.info({ reencrypted }, 're-encrypted keys of content logs with the current key');
    } catch (error) {
      warn('keys of content logs cannot be encrypted with the current key', error);
    }
  }

  async function deleteExpired(): Promise<void> {
    try {
      const deleted = await store.deleteExpired();
      if (deleted > 0) log.info({ deleted }, 'deleted prompts and responses past their retention');
    } catch (error) {
      warn('prompts and responses past their retention cannot be deleted; retrying later', error);
    }
  }

  function warn(message: string, error: unknown): void {
    const suppressed = sampler.sample(message);
    if (suppressed !== undefined) log.warn({ err: error, suppressed }, message);
  }

  function add(content: GenerationContent): void {
    const size = sizeOf(content);
    if (queuedCharacters + size > MAX_QUEUED_CHARACTERS) return count('dropped', 1);
    queue.push(content);
    queuedCharacters += size;
    storing ??= storeAll().finally(() => (storing = undefined));
  }

  async function storeAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = nextBatch(queue);
      const stored = await storeBatch(batch);
      queue = queue.slice(batch.length);
      queuedCharacters -= batch.reduce((sum, content) => sum + sizeOf(content), 0);
      count('stored', stored ?? 0);
      count(stored === undefined ? 'dropped' : 'not_stored', batch.length - (stored ?? 0));
    }
  }

  /** @returns undefined if every attempt failed. */
  async function storeBatch(batch: readonly GenerationContent[]): Promise<number | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.store(batch);
      } catch (error) {
        warn('prompts and responses cannot be stored', error);
        if (stopped || attempt === MAX_ATTEMPTS) return undefined;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  return {
    offer(request, responseJson) {
      if (!enabled.has(request.organizationId)) return;
      // In an event-loop turn of its own: the end of the generation does not wait for it.
      setImmediate(() => {
        try {
          add(contentOf(request, responseJson?.(), maxBytes));
        } catch (error) {
          count('dropped', 1);
          warn('a prompt and response cannot be prepared', error);
        }
      });
    },
    async start() {
      await reencryptKeys();
      await refresh();
      firstDeletion = deleteExpired();
      polling.start();
      deleting.start();
    },
    async stop() {
      await new Promise((resolve) => setImmediate(resolve));
      stopped = true;
      await storing;
      await Promise.all([firstDeletion, polling.stop(), deleting.stop()]);
    },
    refresh,
  };
}

/** A copy: content is added to the queue while the batch is stored. */
function nextBatch(queue: readonly GenerationContent[]): readonly GenerationContent[] {
  let characters = 0;
  const end = queue.findIndex((content, index) => {
    characters += sizeOf(content);
    return index > 0 && (index === MAX_BATCH.contents || characters > MAX_BATCH.characters);
  });
  return queue.slice(0, end === -1 ? undefined : end);
}

function sizeOf({ request, response }: GenerationContent): number {
  return request.text.length + (response?.text.length ?? 0);
}

function createCounts(registry: Registry, queuedCharacters: () => number) {
  const contents = new Counter({
    name: 'gateway_inference_router_contents_total',
    help: 'Prompts and responses of organizations with a content log, by result: stored; not_stored (turned off or erased meanwhile, or stored before); dropped (too many are queued, or the database is unavailable).',
    labelNames: ['result'],
    registers: [registry],
  });
  new Gauge({
    name: 'gateway_inference_router_contents_queued_characters',
    help: 'Characters of prompts and responses that are queued for the database.',
    registers: [registry],
    collect() {
      this.set(queuedCharacters());
    },
  });
  return (result: Result, number: number): void => contents.inc({ result }, number);
}
