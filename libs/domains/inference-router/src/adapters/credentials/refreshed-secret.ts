import { credentialText } from '../../core/failure/public-text';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import type { Timers } from '../../core/ports';

/** A secret is refreshed this long before it expires. AWS rotates the credentials of pods and machines earlier. */
const REFRESH_BEFORE_EXPIRY_MS = 5 * 60_000;
/** A secret without expiry is read again this often, so that a changed file needs no restart. */
const REREAD_MS = 5 * 60_000;
/** The provider may reject a secret that expires while the call is on its way. */
const EXPIRY_MARGIN_MS = 10_000;
/** The pause after a failed attempt. */
const RETRY_MS = 5_000;
const RESOLVE_TIMEOUT_MS = 10_000;

export interface ResolvedSecret<T> {
  readonly value: T;
  /** Unix time in milliseconds; undefined: no expiry. */
  readonly expiresAtMs: number | undefined;
}

export interface RefreshPorts {
  readonly nowMs: () => number;
  readonly timers: Timers;
  /** A refresh in the background failed; the cached secret is still valid. */
  readonly onRefreshFailed: (reason: string) => void;
}

interface RefreshedSecretOptions<T> extends RefreshPorts {
  /** For messages, such as "AWS credentials". */
  readonly name: string;
  readonly resolve: () => Promise<ResolvedSecret<T>>;
}

/** Caches a secret that expires, and refreshes it while calls still use the cached one. */
export class RefreshedSecret<T> {
  private cached: ResolvedSecret<T> | undefined;
  private refreshAtMs = 0;
  private pending: Promise<T> | undefined;
  private failure: { readonly error: UpstreamFailure; readonly untilMs: number } | undefined;
  private closed = false;

  constructor(private readonly options: RefreshedSecretOptions<T>) {}

  /**
   * @returns the secret itself while it is valid.
   * @throws UpstreamFailure `misconfigured`, or rejects with it.
   */
  get(): T | Promise<T> {
    const now = this.options.nowMs();
    const { cached } = this;
    if (!cached || now >= (cached.expiresAtMs ?? Infinity) - EXPIRY_MARGIN_MS) {
      if (this.failure && now < this.failure.untilMs) throw this.failure.error;
      return this.refresh();
    }
    if (now >= this.refreshAtMs && !this.closed) {
      this.refresh().catch((error: unknown) => this.options.onRefreshFailed(String(error)));
    }
    return cached.value;
  }

  close(): void {
    this.closed = true;
  }

  /** Calls that wait at the same time share one attempt. */
  private refresh(): Promise<T> {
    this.pending ??= this.resolve().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async resolve(): Promise<T> {
    const { nowMs, name } = this.options;
    try {
      const resolved = await this.withTimeout();
      this.cached = resolved;
      this.failure = undefined;
      this.refreshAtMs = refreshTime(nowMs(), resolved.expiresAtMs);
      return resolved.value;
    } catch (thrown) {
      const reason = credentialText(thrown instanceof Error ? thrown.message : String(thrown));
      const error = new UpstreamFailure('misconfigured', {
        detail: `${name} are unavailable: ${reason ?? 'unknown'}`,
      });
      this.failure = { error, untilMs: nowMs() + RETRY_MS };
      this.refreshAtMs = nowMs() + RETRY_MS;
      throw error;
    }
  }

  private withTimeout(): Promise<ResolvedSecret<T>> {
    return new Promise((resolve, reject) => {
      const timer = this.options.timers.after(RESOLVE_TIMEOUT_MS, () =>
        reject(new Error(`no response within ${RESOLVE_TIMEOUT_MS} ms`)),
      );
      this.options
        .resolve()
        .then(resolve, reject)
        .finally(() => timer.cancel());
    });
  }
}

/** A secret that expires soon is used for half of the time that is left, so that not every call refreshes it. */
function refreshTime(nowMs: number, expiresAtMs: number | undefined): number {
  if (expiresAtMs === undefined) return nowMs + REREAD_MS;
  return Math.max(expiresAtMs - REFRESH_BEFORE_EXPIRY_MS, (nowMs + expiresAtMs) / 2);
}
