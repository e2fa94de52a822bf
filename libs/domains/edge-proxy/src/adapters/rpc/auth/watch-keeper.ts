import type { AuthDefinition, WatchInvalidationsResponse } from '@gateway/contracts/auth';
import type { RpcClient } from '@gateway/rpc';
import type { Lease } from './lease';

/** A renewal without an answer is given up and sent again. */
const MAX_RENEWAL_TIMEOUT_MS = 1_000;
const FAILED_RENEWAL_PAUSE_MS = 50;
/** A watch that says nothing at all for this long is given up. */
const OPEN_TIMEOUT_MS = 5_000;
/** Renewed this many times per lease, so that one lost call does no harm. */
const RENEWALS_PER_LEASE = 3;

export interface WatchOptions {
  readonly auth: RpcClient<typeof AuthDefinition>;
  readonly edgeId: string;
  readonly lease: Lease;
  /** Forgets before it returns. */
  readonly forget: (target: WatchInvalidationsResponse['target']) => void;
}

/**
 * One watch from its opening to its end: hears what to forget, acknowledges it
 * at once, and keeps the lease running. Rejects when the watch is over, for
 * whatever reason; the lease has then ended. A lease that ran out is never taken
 * up again: auth may have told somebody in the meantime that a key is revoked
 * everywhere, so a new watch has to begin with nothing remembered.
 */
export async function keepWatch(options: WatchOptions, stopped: AbortSignal): Promise<never> {
  const { auth, edgeId, lease, forget } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([stopped, over.signal]);
  const renewal = new Renewal(options, signal, (reason) => over.abort(reason));
  lease.end();
  const openTimer = setTimeout(() => over.abort(new Error('the watch did not open')), OPEN_TIMEOUT_MS);
  try {
    for await (const { sequence, target } of auth.watchInvalidations({ edgeId }, { signal })) {
      clearTimeout(openTimer);
      forget(target);
      renewal.acknowledge(sequence);
    }
    throw new Error('auth ended the watch');
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    clearTimeout(openTimer);
    lease.end();
    over.abort();
  }
}

/** Renews the lease of one watch: at once after each acknowledgement, and before it runs out. */
class Renewal {
  private acknowledged: bigint | undefined;
  private running = false;
  private again = false;
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
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    this.running = true;
    this.again = false;
    void this.renew(this.acknowledged).then((nextInMs) => {
      this.running = false;
      if (this.signal.aborted) return;
      if (this.again) this.renewNow();
      else this.timer = setTimeout(() => this.renewNow(), nextInMs).unref();
    });
  }

  /** One renewal. Answers when the next is due; never rejects. */
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
      if (leaseMs === 0) return this.giveUp('auth does not know the watch');
      if (this.granted && !lease.isLive()) return this.giveUp('the lease ran out during its renewal');
      this.granted = true;
      lease.extend(sentAt, leaseMs);
      return leaseMs / RENEWALS_PER_LEASE;
    } catch (error) {
      if (this.signal.aborted) return 0;
      if (!this.granted) return this.giveUp('the first renewal failed', error);
      if (!lease.isLive()) return this.giveUp('the lease ran out', error);
      return Math.min(FAILED_RENEWAL_PAUSE_MS, lease.remainingMs());
    }
  }

  private giveUp(reason: string, cause?: unknown): number {
    this.lost(new Error(reason, { cause }));
    return 0;
  }
}
