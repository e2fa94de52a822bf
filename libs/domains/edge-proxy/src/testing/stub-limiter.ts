import type { Admission, AdmissionResult, RateLimitDefinition, Refused } from '@gateway/contracts/rate-limit';
import type { RpcHandlers } from '@gateway/rpc';
import type { FaultPlan } from './fault-plan';

export interface StubLimiter {
  readonly handlers: RpcHandlers<typeof RateLimitDefinition>;
  /** Unfinished admissions. */
  readonly outstanding: Map<string, Admission>;
  /** Reported tokens of finished requests. */
  readonly usedTokens: number[];
  readonly renewed: string[];
  /** Admissions finished as returned. */
  returned: number;
  refuse: Refused | undefined;
  slotLeaseMs: number;
  hasRoom: boolean;
}

/** A rate-limit service that records outstanding admissions. */
export function createStubLimiter(faults: FaultPlan): StubLimiter {
  const stub: StubLimiter = {
    outstanding: new Map(),
    usedTokens: [],
    renewed: [],
    returned: 0,
    refuse: undefined,
    slotLeaseMs: 60_000,
    hasRoom: false,
    handlers: {
      admit: async ({ admissions }) => {
        await faults.reach('limiter.admit');
        const results = admissions.map(decide);
        await faults.reach('limiter.admitted');
        return { results };
      },
      finish: async ({ admissions }) => {
        await faults.reach('limiter.finish');
        for (const { admissionId, outcome } of admissions) {
          if (!stub.outstanding.delete(admissionId)) continue;
          if (outcome?.$case === 'used') stub.usedTokens.push(outcome.value.tokens);
          else stub.returned += 1;
        }
        await faults.reach('limiter.finished');
        return {};
      },
      renewSlots: async ({ slots }) => {
        stub.renewed.push(...slots.map((slot) => slot.admissionId));
        return {};
      },
    },
  };

  function decide(admission: Admission): AdmissionResult {
    const windows = {
      requests: { limit: 100, remaining: 99, resetMs: 42_500 },
      tokens: { limit: 50_000, remaining: 40_000, resetMs: 360_000 },
    };
    if (stub.refuse) return { outcome: { $case: 'refused', value: stub.refuse }, ...windows };
    stub.outstanding.set(admission.admissionId, admission);
    const { slotLeaseMs, hasRoom } = stub;
    return { outcome: { $case: 'admitted', value: { slotLeaseMs, hasRoom } }, ...windows };
  }

  return stub;
}
