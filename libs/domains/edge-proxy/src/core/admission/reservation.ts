import type { ClaimIdempotencyKeyResponse, Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import { idempotentEndingMessage } from '@gateway/contracts/events';
import type { Admission, AdmissionResult, FinishedAdmission } from '@gateway/contracts/rate-limit';
import { limits } from '../limits';
import type { ClaimRef, HoldRef, Ledger, RateLimiter } from '../ports';

/** A generation that ended, as far as the edge knows. */
interface EndedGeneration {
  /** Input and output tokens; an estimate when the router has reported none. */
  readonly usedTokens: number;
  /**
   * - `completed`: the router's event settles the hold and stores the response.
   * - `failed`: the event settles the hold; there is no response to store.
   * - `cancelled`: the event settles the hold if the prompt was sent. Without a
   *   settlement the hold is released after a short time.
   * - `unknown`: the cost is unknown. The hold is released; a late settlement
   *   still books exactly once.
   */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'unknown';
}

/**
 * What one request has reserved at other services: an idempotency claim, an
 * admission with its slot, a hold. Each is recorded before it is requested, so
 * that an attempt with an unknown result is released as well. A request calls
 * `release`, or `finish` and then `release`; no other code releases anything.
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
  /** The request ran: frees the slot and reports its actual tokens. The settlement does the rest. */
  finish(result: EndedGeneration): Promise<void>;
  /** A provider was called: the request stays counted although its reservations are released. */
  markProviderCalled(): void;
  /** Releases everything that is still reserved. Never rejects; safe to call twice. */
  release(): Promise<void>;
}

interface ReservationPorts {
  readonly rateLimiter: RateLimiter;
  readonly ledger: Ledger;
  /** Calls back after `ms`, unless the returned function is called before. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export interface ReservationOptions {
  /** How long a response may wait for its releases. Later ones are delivered in the background. */
  readonly maxWaitMs: number;
  /** How long a claimed Idempotency-Key stays blocked when this edge crashes. */
  readonly claimLeaseMs: number;
}

type Outcome = FinishedAdmission['outcome'];
const RETURNED: Outcome = { $case: 'returned', value: {} };
const USED_NOTHING: Outcome = { $case: 'used', value: { tokens: 0 } };

export function openReservation(
  { rateLimiter, ledger, after }: ReservationPorts,
  { maxWaitMs, claimLeaseMs }: ReservationOptions,
): Reservation {
  let claimed: ClaimRef | undefined;
  let admitted: Admission | undefined;
  /** Whether the client's next requests are admitted also before this one is finished. */
  let hasRoom = false;
  let held: Hold | undefined;
  let released: Outcome = RETURNED;
  let stopClaimRenewal = noop;
  let stopSlotRenewal = noop;

  async function claim(request: Parameters<Reservation['claim']>[0]): Promise<ClaimIdempotencyKeyResponse> {
    const ref = { scope: request.scope, generationId: request.generationId };
    claimed = ref;
    const response = await ledger.claim({ ...request, leaseMs: claimLeaseMs });
    if (response.outcome?.$case === 'claimed') stopClaimRenewal = ledger.startClaimRenewal(ref, claimLeaseMs);
    else claimed = undefined;
    return response;
  }

  async function admit(admission: Admission): Promise<AdmissionResult> {
    admitted = admission;
    const result = await rateLimiter.admit(admission);
    if (result.outcome?.$case === 'admitted') {
      const { slotLeaseMs } = result.outcome.value;
      ({ hasRoom } = result.outcome.value);
      stopSlotRenewal = rateLimiter.startSlotRenewal(admission, slotLeaseMs);
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

  async function finish({ usedTokens, outcome }: EndedGeneration): Promise<void> {
    const deliveries: Promise<void>[] = [];
    // The response does not wait for it: the client has disconnected.
    if (held && outcome === 'cancelled') void ledger.voidHold(refOf(held), limits.releases.settlementGraceMs);
    if (outcome !== 'unknown') held = undefined;
    endClaim(outcome, deliveries);
    const finishing = finishAdmission({ $case: 'used', value: { tokens: usedTokens } });
    if (finishing && !hasRoom) deliveries.push(finishing);
    await delivered(deliveries);
  }

  function markProviderCalled(): void {
    released = USED_NOTHING;
  }

  async function release(): Promise<void> {
    const deliveries: Promise<void>[] = [];
    if (held) {
      deliveries.push(ledger.voidHold(refOf(held)));
      held = undefined;
    }
    const finishing = finishAdmission(released);
    if (finishing) deliveries.push(finishing);
    endClaim('refused', deliveries);
    await delivered(deliveries);
  }

  function endClaim(ending: EndedGeneration['outcome'] | 'refused', deliveries: Promise<void>[]): void {
    stopClaimRenewal();
    if (!claimed) return;
    deliveries.push(ledger.endClaim(claimed, idempotentEndingMessage(ending)));
    claimed = undefined;
  }

  function finishAdmission(outcome: Outcome): Promise<void> | undefined {
    stopSlotRenewal();
    if (!admitted) return undefined;
    const { admissionId, organizationId, keyId } = admitted;
    admitted = undefined;
    return rateLimiter.finish({ admissionId, organizationId, keyId, outcome });
  }

  // Where a limit is more than half used, the response waits for the slot to be free, so
  // that a client with a limit of one concurrent request may send its next one
  // immediately. The wait is short when rate-limit or the ledger is unreachable.
  function delivered(deliveries: readonly Promise<void>[]): Promise<void> {
    if (deliveries.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const stopWaiting = after(maxWaitMs, resolve);
      void Promise.all(deliveries).then(() => {
        stopWaiting();
        resolve();
      });
    });
  }

  return { claim, admit, hold, finish, markProviderCalled, release };
}

function refOf({ holdId, organizationId }: Hold): HoldRef {
  return { holdId, organizationId };
}

function noop(): void {}
