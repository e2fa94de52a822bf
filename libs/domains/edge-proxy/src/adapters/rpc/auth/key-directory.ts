import { unavailableAsNoCapacity } from '@gateway/errors';
import { keepOpen, type Clock } from '@gateway/base';
import type { AuthDefinition, KeyGrant } from '@gateway/contracts/auth';
import { type RpcClient, isRpcWithoutResponse } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import type { KeyDirectory } from '../../../core';
import { createInstruments, type LookupCounts } from './metrics';
import { hashText, KeyCache, NO_SUCH_KEY, type KeyAnswer, type PendingAnswer } from './key-cache';
import { Lease } from './lease';
import { FreshLookupCoalescer } from './fresh-lookup-coalescer';
import { keepWatch } from './watch-keeper';

export interface KeyDirectoryPorts {
  readonly auth: RpcClient<typeof AuthDefinition>;
  /** Unique per process and per start, such as newId('edge'). */
  readonly edgeId: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Milliseconds on a clock that never steps back. */
  readonly monotonicNow?: () => number;
}

export interface KeyDirectoryOptions {
  /** Keys whose grants are remembered. Default 100,000. */
  readonly maxCachedKeys?: number;
  /** Hashes remembered as belonging to no key. Default 1,000. */
  readonly maxUnknownKeys?: number;
}

interface LookupOptions {
  /** Ends the caller's wait; the call to auth may serve others and goes on. */
  readonly signal?: AbortSignal;
}

/** The key directory over auth's RPCs. */
export interface WatchedKeyDirectory extends KeyDirectory<KeyGrant> {
  /**
   * The grant of the key with this SHA-256, as it is now: a key that was revoked
   * or changed before the call is never answered as it was before. Undefined: no
   * such key. Rejects with a GatewayError when auth was needed and not reached.
   */
  lookup(keySha256: Buffer, options?: LookupOptions): Promise<KeyGrant | undefined>;
  /** Whether cached answers may be used now. Without, every lookup waits for an answer that was asked for after it came. */
  isLive(): boolean;
  /** Opens the watch, now and whenever it is lost. Lookups work before, by asking auth. */
  start(): void;
  /** Closes the watch and forgets everything. */
  stop(): Promise<void>;
}

const DEFAULTS = { maxCachedKeys: 100_000, maxUnknownKeys: 1_000 };
const RECONNECT = { firstMs: 20, maxMs: 2_000 };

/**
 * A cache of auth's answers that may be used only while auth can take them
 * back: under an open watch and a running lease. Auth answers a revocation after
 * every edge has acknowledged it or its lease has run out, so a key that was
 * revoked is accepted nowhere from then on.
 */
export function createKeyDirectory(options: KeyDirectoryPorts & KeyDirectoryOptions): WatchedKeyDirectory {
  const { auth, edgeId, clock, log, metrics } = options;
  const cache = new KeyCache({
    maxCachedKeys: options.maxCachedKeys ?? DEFAULTS.maxCachedKeys,
    maxUnknownKeys: options.maxUnknownKeys ?? DEFAULTS.maxUnknownKeys,
  });
  const freshLookups = new FreshLookupCoalescer<KeyAnswer>();
  const lease = new Lease(clock, options.monotonicNow ?? (() => performance.now()));
  const counts: LookupCounts = { cached: 0, shared: 0, fetched: 0, unleased: 0 };
  const isLive = (): boolean => lease.isLive();
  const instruments = createInstruments(metrics, { counts, isLive, cachedKeys: () => cache.size });
  const stopping = new AbortController();
  let watching: Promise<void> | undefined;

  function lookup(keySha256: Buffer, { signal }: LookupOptions = {}): Promise<KeyAnswer> {
    const hash = hashText(keySha256);
    if (!lease.isLive()) {
      counts.unleased += 1;
      return endedBy(
        signal,
        freshLookups.lookup(hash, () => ask(keySha256)),
      );
    }
    const remembered = cache.get(hash);
    if (remembered !== undefined) {
      counts.cached += 1;
      return Promise.resolve(remembered === NO_SUCH_KEY ? undefined : remembered);
    }
    return endedBy(signal, sharedAnswer(hash, keySha256));
  }

  function sharedAnswer(hash: string, keySha256: Buffer): Promise<KeyAnswer> {
    const underWay = cache.pendingAnswer(hash);
    if (underWay) {
      counts.shared += 1;
      return underWay.answer;
    }
    counts.fetched += 1;
    const answer = ask(keySha256);
    const pending: PendingAnswer = { hash, answer };
    cache.expect(pending);
    // Registered before any caller's, so the cache is settled when they go on.
    answer.then(
      (found) => {
        if (cache.settle(pending) && lease.isLive()) cache.keep(hash, found);
      },
      () => cache.settle(pending),
    );
    return answer;
  }

  async function ask(keySha256: Buffer): Promise<KeyAnswer> {
    const { outcome } = await unavailableAsNoCapacity(auth.verifyKey({ keySha256 }), isRpcWithoutResponse);
    return outcome?.$case === 'grant' ? outcome.value : undefined;
  }

  async function watch(opened: () => void): Promise<void> {
    const forget = (target: Parameters<KeyCache['forget']>[0]): void => {
      opened();
      instruments.invalidations.inc();
      cache.forget(target);
    };
    try {
      await keepWatch({ auth, edgeId, lease, forget }, stopping.signal);
    } finally {
      cache.forgetAll();
    }
  }

  return {
    lookup,
    isLive,
    start() {
      watching ??= keepOpen(watch, {
        backoff: RECONNECT,
        signal: stopping.signal,
        onFailure(error) {
          instruments.watchesLost.inc();
          log.warn({ err: error, edgeId }, 'the watch on key changes was lost; asking auth for every key');
        },
      });
    },
    async stop() {
      stopping.abort();
      await watching;
      cache.forgetAll();
    },
  };
}

/** The same result, unless the signal aborts first. */
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
