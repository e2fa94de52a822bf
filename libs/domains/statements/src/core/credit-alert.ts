import type { NanoUsd, UnixMs } from '@gateway/base';

/** When and whom a low balance of an organization is told to. */
export interface CreditAlert {
  /** Undefined: nobody is told. */
  readonly thresholdNanoUsd: NanoUsd | undefined;
  readonly webhookUrl: string | undefined;
  readonly emails: readonly string[];
  /** Since when the available amount is below the threshold. */
  readonly belowSince: UnixMs | undefined;
  readonly lastSent: UnixMs | undefined;
  /** Why the last one did not arrive. */
  readonly lastFailure: string | undefined;
}

export const NO_ALERT: CreditAlert = {
  thresholdNanoUsd: undefined,
  webhookUrl: undefined,
  emails: [],
  belowSince: undefined,
  lastSent: undefined,
  lastFailure: undefined,
};

/** An alert on its way. */
export interface DueAlert {
  readonly organizationId: string;
  readonly thresholdNanoUsd: NanoUsd;
  readonly availableNanoUsd: NanoUsd;
  readonly belowSince: UnixMs;
  readonly webhookUrl: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly emails: readonly string[];
}

/** After so many an alert is given up; its last failure stays to be seen. */
export const MAX_ALERT_ATTEMPTS = 10;

/** How long to wait before the attempt after this one, which may be under way for as long. */
export function retryAfterMs(attempt: number): number {
  return Math.min(30_000 * 2 ** (attempt - 1), 3_600_000);
}
