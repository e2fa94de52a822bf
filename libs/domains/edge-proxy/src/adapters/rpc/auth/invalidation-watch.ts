import type { AuthDefinition, WatchInvalidationsResponse } from '@gateway/contracts/auth';
import type { RpcClient } from '@gateway/rpc';
import type { Lease } from './lease';

/** A renewal without a response is retried after this long. */
const MAX_RENEWAL_TIMEOUT_MS = 1_000;
const FAILED_RENEWAL_PAUSE_MS = 50;
/** A watch without a first message is reopened after this long. */
const OPEN_TIMEOUT_MS = 5_000;
/** Renewals per lease, so that one lost call has no effect. */
const RENEWALS_PER_LEASE = 3;

export interface WatchOptions {
  readonly auth: RpcClient<typeof AuthDefinition>;
  readonly edgeId: string;
  readonly lease: Lease;
  /** Synchronous: the entries are evicted when it returns. */
  readonly evict: (target: WatchInvalidationsResponse['target']) => void;
}

/**
 * Runs one watch: evicts the invalidated keys, acknowledges each invalidation
 * immediately, and renews the lease. Rejects when the watch ends, with the lease
 * already ended. An expired lease is never renewed: auth may have confirmed a
 * revocation in the meantime, so a new watch must start with an empty cache.
 */
export async function runWatch(options: WatchOptions, stopped: AbortSignal): Promise<never> {
  const { auth, edgeId, lease, evict } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([stopped, over.signal]);
  const renewal = new Renewal(options, signal, (reason) => over.abort(reason));
  lease.end();
  const openTimer = setTimeout(
    () => over.abort(new Error('the watch on key changes did not open')),
    OPEN_TIMEOUT_MS,
  );
  try {
    for await (const { sequence, target } of auth.watchInvalidations({ edgeId }, { signal })) {
      clearTimeout(openTimer);
      evict(target);
      renewal.acknowledge(sequence);
    }
    throw new Error('auth closed the watch on key changes');
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    clearTimeout(openTimer);
    lease.end();
    over.abort();
  }
}

/** Renews the lease of one watch: immediately after each invalidation, and before it expires. */
class Renewal {
  private acknowledged: bigint | undefined;
  private running = false;
  private isRenewalPending = false;
  private granted = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: WatchOptions,
    private readonly signal: AbortSignal,
    private readonly lost: (reason: Error) => void,
  ) {
    signal.addEventListener('abort', () => clearTimeout(this.timer), { once: true });
  }

  acknowledge(sequence: bigint): void {
    this.acknowledged = sequence;
    this.renewNow();
  }

  private renewNow(): void {
    if (this.signal.aborted || this.acknowledged === undefined) return;
    if (this.running) {
      this.isRenewalPending = true;
      return;
    }
    clearTimeout(this.timer);
    this.running = true;
    this.isRenewalPending = false;
    void this.renew(this.acknowledged).then((nextInMs) => {
      this.running = false;
      if (this.signal.aborted) return;
      if (this.isRenewalPending) this.renewNow();
      else this.timer = setTimeout(() => this.renewNow(), nextInMs).unref();
    });
  }

  /** Renews once; never rejects. @returns milliseconds until the next renewal. */
  private async renew(acknowledgedSequence: bigint): Promise<number> {
    const { auth, edgeId, lease } = this.options;
    const sentAt = lease.now();
    const timeoutMs = this.granted
      ? Math.max(1, Math.min(MAX_RENEWAL_TIMEOUT_MS, lease.remainingMs()))
      : MAX_RENEWAL_TIMEOUT_MS;
    try {
      const call = { signal: this.signal, timeoutMs };
      const { leaseMs } = await auth.renewLease({ edgeId, acknowledgedSequence }, call);
      if (this.signal.aborted) return 0;
      if (leaseMs === 0) return this.endWatch('auth does not know the watch');
      if (this.granted && !lease.isValid()) return this.endWatch('the lease expired during its renewal');
      this.granted = true;
      lease.extend(sentAt, leaseMs);
      return leaseMs / RENEWALS_PER_LEASE;
    } catch (error) {
      if (this.signal.aborted) return 0;
      if (!this.granted) return this.endWatch('the first renewal failed', error);
      if (!lease.isValid()) return this.endWatch('the lease expired', error);
      return Math.min(FAILED_RENEWAL_PAUSE_MS, lease.remainingMs());
    }
  }

  private endWatch(reason: string, cause?: unknown): number {
    this.lost(new Error(reason, { cause }));
    return 0;
  }
}
