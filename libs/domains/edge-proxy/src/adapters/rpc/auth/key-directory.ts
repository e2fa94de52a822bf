import { unavailableAsNoCapacity } from '@gateway/errors';
import { maintainConnection, type Clock } from '@gateway/base';
import type { AuthDefinition, KeyGrant } from '@gateway/contracts/auth';
import { type RpcClient, isRpcWithoutResponse } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import type { KeyDirectory } from '../../../core';
import { createInstruments, type LookupCounts } from './metrics';
import { hashText, KeyCache, NO_SUCH_KEY, type KeyLookupResult, type PendingLookup } from './key-cache';
import { Lease } from './lease';
import { FreshLookupCoalescer } from './fresh-lookup-coalescer';
import { runWatch } from './invalidation-watch';

export interface KeyDirectoryPorts {
  readonly auth: RpcClient<typeof AuthDefinition>;
  /** Unique per process and per start, such as newId('edge'). */
  readonly edgeId: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow?: () => number;
}

export interface KeyDirectoryOptions {
  /** Cached grants. Default 100,000. */
  readonly maxCachedKeys?: number;
  /** Cached hashes of unknown keys. Default 1,000. */
  readonly maxUnknownKeys?: number;
}

interface LookupOptions {
  /** Ends the caller's wait only: the call to auth may be shared, and continues. */
  readonly signal?: AbortSignal;
}

/** The key directory over auth's RPCs. */
export interface WatchedKeyDirectory extends KeyDirectory {
  /**
   * The current grant of the key with this SHA-256, never one from before a
   * revocation or change that was confirmed before the call. Undefined: no such
   * key. Rejects with a GatewayError when auth was needed and is unreachable.
   */
  lookup(keySha256: Buffer, options?: LookupOptions): Promise<KeyGrant | undefined>;
  /** Whether cached grants may be used. Otherwise every lookup waits for a call to auth that starts after it. */
  hasValidLease(): boolean;
  /** Opens the watch, and reopens it whenever it is lost. Lookups before that call auth. */
  start(): void;
  /** Closes the watch and clears the cache. */
  stop(): Promise<void>;
}

const DEFAULTS = { maxCachedKeys: 100_000, maxUnknownKeys: 1_000 };
const RECONNECT = { firstMs: 20, maxMs: 2_000 };

/**
 * A cache of grants that is used only while auth can invalidate it: under an
 * open watch and a valid lease. Auth confirms a revocation after every edge has
 * acknowledged it or lost its lease, so no edge accepts the key after that.
 */
export function createKeyDirectory(options: KeyDirectoryPorts & KeyDirectoryOptions): WatchedKeyDirectory {
  const { auth, edgeId, clock, log, metrics } = options;
  const cache = new KeyCache({
    maxCachedKeys: options.maxCachedKeys ?? DEFAULTS.maxCachedKeys,
    maxUnknownKeys: options.maxUnknownKeys ?? DEFAULTS.maxUnknownKeys,
  });
  const freshLookups = new FreshLookupCoalescer<KeyLookupResult>();
  const lease = new Lease(clock, options.monotonicNow ?? (() => performance.now()));
  const counts: LookupCounts = { cached: 0, shared: 0, fetched: 0, unleased: 0 };
  const hasValidLease = (): boolean => lease.isValid();
  const instruments = createInstruments(metrics, { counts, hasValidLease, cachedKeys: () => cache.size });
  const stopping = new AbortController();
  let watching: Promise<void> | undefined;

  function lookup(keySha256: Buffer, { signal }: LookupOptions = {}): Promise<KeyLookupResult> {
    const hash = hashText(keySha256);
    if (!lease.isValid()) {
      counts.unleased += 1;
      return endedBy(
        signal,
        freshLookups.lookup(hash, () => fetchKey(keySha256)),
      );
    }
    const cached = cache.get(hash);
    if (cached !== undefined) {
      counts.cached += 1;
      return Promise.resolve(cached === NO_SUCH_KEY ? undefined : cached);
    }
    return endedBy(signal, sharedLookup(hash, keySha256));
  }

  function sharedLookup(hash: string, keySha256: Buffer): Promise<KeyLookupResult> {
    const inFlight = cache.pendingLookup(hash);
    if (inFlight) {
      counts.shared += 1;
      return inFlight.result;
    }
    counts.fetched += 1;
    const result = fetchKey(keySha256);
    const pending: PendingLookup = { hash, result };
    cache.addPending(pending);
    // Registered before the callers' handlers, so the cache is up to date when they run.
    result.then(
      (found) => {
        if (cache.finishPending(pending) && lease.isValid()) cache.store(hash, found);
      },
      () => cache.finishPending(pending),
    );
    return result;
  }

  async function fetchKey(keySha256: Buffer): Promise<KeyLookupResult> {
    const { outcome } = await unavailableAsNoCapacity(auth.verifyKey({ keySha256 }), isRpcWithoutResponse);
    return outcome?.$case === 'grant' ? outcome.value : undefined;
  }

  async function watch(opened: () => void): Promise<void> {
    const evict = (target: Parameters<KeyCache['evict']>[0]): void => {
      opened();
      instruments.invalidations.inc();
      cache.evict(target);
    };
    try {
      await runWatch({ auth, edgeId, lease, evict }, stopping.signal);
    } finally {
      cache.clear();
    }
  }

  return {
    lookup,
    hasValidLease,
    start() {
      watching ??= maintainConnection(watch, {
        backoff: RECONNECT,
        signal: stopping.signal,
        onFailure(error) {
          instruments.watchesLost.inc();
          log.warn(
            { err: error, edgeId },
            'lost the watch on key changes; calling auth for every key until it is open again',
          );
        },
      });
    },
    async stop() {
      stopping.abort();
      await watching;
      cache.clear();
    },
  };
}

/** The result of `work`, unless the signal aborts first. */
function endedBy<Result>(signal: AbortSignal | undefined, work: Promise<Result>): Promise<Result> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) {
      work.catch(() => undefined);
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
