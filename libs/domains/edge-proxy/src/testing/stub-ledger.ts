import type {
  BillingLedgerDefinition,
  ClaimIdempotencyKeyResponse,
  ClaimRef,
  Hold,
  HoldResult,
} from '@gateway/contracts/billing-ledger';
import { IdempotentEnding } from '@gateway/contracts/events';
import type { RpcHandlers } from '@gateway/rpc';
import type { FaultPlan } from './fault-plan';

interface StubClaim {
  readonly bodySha256: Buffer;
  readonly generationId: string;
  responseJson?: Buffer;
  responseEvents?: Buffer;
}

export interface StubLedger {
  readonly handlers: RpcHandlers<typeof BillingLedgerDefinition>;
  /** Holds that are neither settled nor voided. */
  readonly held: Map<string, Hold>;
  /** Requested amounts of holds, in order. */
  readonly amounts: bigint[];
  /** Calls of HoldCredit. */
  holdCalls: number;
  readonly claims: Map<string, StubClaim>;
  /** Scopes of requests that ended with a response: in flight until they are settled. */
  readonly completedClaims: string[];
  /** Renewals of claims, in order. */
  readonly renewals: { readonly claims: readonly ClaimRef[]; readonly leaseMs: number }[];
  /** Requested lease times of claims, in order. */
  readonly claimLeasesMs: number[];
  refuse: HoldResult['outcome'];
  /** Decides holds instead of `refuse`. */
  decide: ((hold: Hold) => HoldResult['outcome']) | undefined;
  /** Simulates the consumer of generation.finished; without a response the claim is released. */
  settle(generationId: string, scope: string | undefined, responseJson: Buffer | undefined): void;
}

/** The key of each claim. */
export const RESPONSE_KEY = Buffer.alloc(32, 7);

/** A ledger that records holds and claims. */
export function createStubLedger(faults: FaultPlan): StubLedger {
  const unexpectedCall = (): never => {
    throw new Error('the edge does not call this');
  };
  const stub: StubLedger = {
    held: new Map(),
    amounts: [],
    holdCalls: 0,
    claims: new Map(),
    completedClaims: [],
    renewals: [],
    claimLeasesMs: [],
    refuse: undefined,
    decide: undefined,
    settle: (generationId, scope, responseJson) => {
      stub.held.delete(generationId);
      const claim = scope === undefined ? undefined : stub.claims.get(scope);
      if (!claim || scope === undefined) return;
      if (responseJson) claim.responseJson = responseJson;
      else stub.claims.delete(scope);
    },
    handlers: {
      holdCredit: async ({ holds }) => {
        await faults.reach('ledger.hold');
        stub.holdCalls += 1;
        const results = holds.map((hold): HoldResult => {
          stub.amounts.push(hold.amountNanoUsd);
          const outcome = stub.decide?.(hold) ?? stub.refuse ?? { $case: 'held', value: {} };
          if (outcome.$case === 'held') stub.held.set(hold.holdId, hold);
          return { outcome };
        });
        await faults.reach('ledger.held');
        return { results };
      },
      voidHolds: async ({ holds }) => {
        await faults.reach('ledger.void');
        for (const { holdId } of holds) stub.held.delete(holdId);
        await faults.reach('ledger.voided');
        return {};
      },
      claimIdempotencyKey: async ({ scope, bodySha256, generationId, leaseMs }) => {
        stub.claimLeasesMs.push(leaseMs);
        await faults.reach('ledger.claim');
        const response = claim(scope, bodySha256, generationId);
        await faults.reach('ledger.claimed');
        return response;
      },
      renewIdempotencyClaims: async ({ claims, leaseMs }) => {
        stub.renewals.push({ claims, leaseMs });
        return {};
      },
      endIdempotencyClaims: async ({ endedClaims }) => {
        await faults.reach('ledger.release');
        for (const { claim: ended, ending } of endedClaims) {
          // A request with a response stays claimed until it is settled; all others release their key.
          if (ended && ending === IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED) {
            stub.completedClaims.push(ended.scope);
            continue;
          }
          const current = ended && stub.claims.get(ended.scope);
          const isOwn = current?.generationId === ended?.generationId && !current?.responseJson;
          if (ended && isOwn) stub.claims.delete(ended.scope);
        }
        return {};
      },
      getBalance: async () => {
        await faults.reach('ledger.balance');
        return {
          totalCreditsNanoUsd: 100_500_000_000n,
          totalUsageNanoUsd: 25_750_000_000n,
          balanceNanoUsd: 74_750_000_000n,
          heldNanoUsd: 350_000_000n,
          availableNanoUsd: 74_400_000_000n,
        };
      },
      getRun: async ({ runId }) => {
        await faults.reach('ledger.run');
        return {
          run: runId.endsWith('/run-1')
            ? {
                budgetNanoUsd: 2_000_000_000n,
                spentNanoUsd: 500_000_000n,
                heldNanoUsd: 250_000_000n,
                createdUnixMs: 1_790_000_000_000n,
              }
            : undefined,
        };
      },
      extendHolds: unexpectedCall,
      settleGenerations: unexpectedCall,
      addCredit: unexpectedCall,
    },
  };

  function claim(scope: string, bodySha256: Buffer, generationId: string): ClaimIdempotencyKeyResponse {
    const current = stub.claims.get(scope);
    if (!current) {
      stub.claims.set(scope, { bodySha256, generationId });
      return { outcome: { $case: 'claimed', value: { responseKey: RESPONSE_KEY } } };
    }
    if (!current.bodySha256.equals(bodySha256)) return { outcome: { $case: 'bodyMismatch', value: {} } };
    if (!current.responseJson)
      return { outcome: { $case: 'inFlight', value: { generationId: current.generationId } } };
    const { responseJson, responseEvents } = current;
    return {
      outcome: {
        $case: 'completed',
        value: { generationId: current.generationId, responseJson, responseEvents },
      },
    };
  }

  return stub;
}
