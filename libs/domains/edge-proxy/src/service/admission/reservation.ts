import type { ClaimIdempotencyKeyResponse, Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import { IdempotentEnding } from '@gateway/contracts/events';
import type { Admission, AdmissionResult, FinishedAdmission } from '@gateway/contracts/rate-limit';
import type { ClaimRef, Ledger, RateLimiter } from '../../core';

type EdgeRateLimiter = RateLimiter<Admission, AdmissionResult, FinishedAdmission>;
export type EdgeLedger = Ledger<Hold, HoldResult, ClaimIdempotencyKeyResponse, IdempotentEnding>;

/** How a request that reached the router ended. */
interface RunResult {
  /** Input and output tokens, as well as they are known. */
  readonly usedTokens: number;
  /**
   * - `settles`: the router's event settles the hold and stores the answer.
   * - `settles_failed`: the event settles the hold; there is no answer to store.
   * - `unknown`: whether anything is owed is unknown. The hold is released; a
   *   settlement that comes all the same still books exactly once.
   */
  readonly outcome: 'settles' | 'settles_failed' | 'unknown';
}

/**
 * What one request has reserved at other services: an idempotency claim, an
 * admission with its slot, a hold. Each is noted before it is asked for, so an
 * attempt with an unknown result is released as well. A request ends in
 * `release`, or in `end` and then `release`; nothing else releases anything.
 */
export interface Reservation {
  claim(request: {
    readonly scope: string;
    readonly organizationId: string;
    readonly bodySha256: Buffer;
    readonly generationId: string;
  }): Promise<ClaimIdempotencyKeyResponse>;
  admit(admission: Admission): Promise<AdmissionResult>;
  hold(hold: Hold): Promise<HoldResult>;
  /** The request ran: frees the slot with its real tokens and leaves the rest to the settlement. */
  end(ending: RunResult): Promise<void>;
  /** A provider was called, though nothing came of it: whatever is released then, the request stays counted. */
  keepRequest(): void;
  /** Releases whatever is still reserved, as if the request had never been. Never rejects; safe to call twice. */
  release(): Promise<void>;
}

export interface ReservationPorts {
  readonly rateLimiter: EdgeRateLimiter;
  readonly ledger: EdgeLedger;
}

export interface ReservationOptions {
  /** How long an answer may wait for what is released to arrive; it arrives later all the same. */
  readonly maxWaitMs: number;
  /** How long a claimed Idempotency-Key stays blocked when this edge crashes. */
  readonly claimLeaseMs: number;
}

const ENDINGS: Readonly<Record<RunResult['outcome'], IdempotentEnding>> = {
  settles: IdempotentEnding.IDEMPOTENT_ENDING_ANSWERED,
  settles_failed: IdempotentEnding.IDEMPOTENT_ENDING_FAILED,
  unknown: IdempotentEnding.IDEMPOTENT_ENDING_UNKNOWN,
};

type Outcome = FinishedAdmission['outcome'];
const RETURNED: Outcome = { $case: 'returned', value: {} };
const USED_NOTHING: Outcome = { $case: 'used', value: { tokens: 0 } };

export function openReservation(
  { rateLimiter, ledger }: ReservationPorts,
  { maxWaitMs, claimLeaseMs }: ReservationOptions,
): Reservation {
  let claimed: ClaimRef | undefined;
  let admitted: Admission | undefined;
  let held: Hold | undefined;
  let released: Outcome = RETURNED;
  let stopKeepingClaim = nothing;
  let stopKeepingSlot = nothing;

  async function claim(request: Parameters<Reservation['claim']>[0]): Promise<ClaimIdempotencyKeyResponse> {
    const ref = { scope: request.scope, generationId: request.generationId };
    claimed = ref;
    const response = await ledger.claim({ ...request, leaseMs: claimLeaseMs });
    if (response.outcome?.$case === 'claimed') stopKeepingClaim = ledger.keepClaim(ref, claimLeaseMs);
    else claimed = undefined;
    return response;
  }

  async function admit(admission: Admission): Promise<AdmissionResult> {
    admitted = admission;
    const result = await rateLimiter.admit(admission);
    if (result.outcome?.$case === 'admitted') {
      stopKeepingSlot = rateLimiter.keepSlot(admission, result.outcome.value.slotLeaseMs);
    } else {
      admitted = undefined;
    }
    return result;
  }

  async function hold(request: Hold): Promise<HoldResult> {
    held = request;
    const result = await ledger.hold(request);
    if (result.outcome?.$case !== 'held') held = undefined;
    return result;
  }

  async function end({ usedTokens, outcome }: RunResult): Promise<void> {
    const deliveries: Promise<void>[] = [];
    if (outcome !== 'unknown') held = undefined;
    endClaim(ENDINGS[outcome], deliveries);
    finishAdmission({ $case: 'used', value: { tokens: usedTokens } }, deliveries);
    await delivered(deliveries);
  }

  function keepRequest(): void {
    released = USED_NOTHING;
  }

  async function release(): Promise<void> {
    const deliveries: Promise<void>[] = [];
    if (held) {
      deliveries.push(ledger.voidHold({ holdId: held.holdId, organizationId: held.organizationId }));
      held = undefined;
    }
    finishAdmission(released, deliveries);
    endClaim(IdempotentEnding.IDEMPOTENT_ENDING_REFUSED, deliveries);
    await delivered(deliveries);
  }

  function endClaim(ending: IdempotentEnding, deliveries: Promise<void>[]): void {
    stopKeepingClaim();
    if (!claimed) return;
    deliveries.push(ledger.endClaim(claimed, ending));
    claimed = undefined;
  }

  function finishAdmission(outcome: Outcome, deliveries: Promise<void>[]): void {
    stopKeepingSlot();
    if (!admitted) return;
    const { admissionId, organizationId, keyId } = admitted;
    admitted = undefined;
    deliveries.push(rateLimiter.finish({ admissionId, organizationId, keyId, outcome }));
  }

  // The answer waits for the slot to be free, so that a caller with one slot
  // may send its next request at once; but it does not wait for a limiter or a
  // ledger that cannot be reached.
  function delivered(deliveries: readonly Promise<void>[]): Promise<void> {
    if (deliveries.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, maxWaitMs);
      void Promise.all(deliveries).then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  return { claim, admit, hold, end, keepRequest, release };
}

function nothing(): void {}
