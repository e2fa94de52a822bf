import { seededRandom, simulationSeeds } from '@gateway/test-support';
import type {
  Admission,
  AdmissionRef,
  Decision,
  FinishedAdmission,
  Limits,
  WindowState,
} from '../core/limits';
import { ManualClock, type OpenLimitStoreUnderTest } from './limit-store.contract';

const SLOT_LEASE_MS = 20_000;
const MINUTE_MS = 60_000;
const STEPS = 600;

interface AdmissionRecord {
  readonly admission: Admission;
  readonly minute: number;
  expiresMs: number;
  /** As counted now; undefined when the request was returned. */
  tokens: number | undefined;
  finished: boolean;
}

/**
 * The reference model of a limit store. Computes every result from the full
 * history; slow, and shares no code with the stores.
 */
class Model {
  private all: AdmissionRecord[] = [];

  constructor(private readonly clock: ManualClock) {}

  admit(admission: Admission): Decision {
    // Records without any further effect are dropped, for speed only.
    this.all = this.all.filter(
      (record) =>
        record.minute === this.minute() || (!record.finished && record.expiresMs > this.clock.now()),
    );
    const refusal = this.isKnown(admission) ? undefined : this.refusal(admission);
    if (refusal === undefined && !this.isKnown(admission)) {
      const { tokens } = admission;
      this.all.push({
        admission,
        minute: this.minute(),
        expiresMs: this.clock.now() + SLOT_LEASE_MS,
        tokens,
        finished: false,
      });
    }
    const states = {
      requests: this.state(admission, 'requestsPerMinute', (records) => records.length),
      tokens: this.state(admission, 'tokensPerMinute', sumOfTokens),
    };
    if (refusal) return { ...refusal, ...states };
    return { kind: 'admitted', slotLeaseMs: SLOT_LEASE_MS, hasRoom: this.hasRoom(admission), ...states };
  }

  finish(finished: FinishedAdmission): void {
    const record = this.find(finished);
    if (record === undefined) return;
    record.finished = true;
    record.tokens = finished.outcome.kind === 'used' ? finished.outcome.tokens : undefined;
  }

  renew(ref: AdmissionRef): void {
    const record = this.find(ref);
    if (record && record.expiresMs > this.clock.now()) record.expiresMs = this.clock.now() + SLOT_LEASE_MS;
  }

  /** Admitted, not finished, and with its slot in use or its minute not over. */
  isKnown(ref: AdmissionRef): boolean {
    const record = this.find(ref);
    return record !== undefined && (record.expiresMs > this.clock.now() || record.minute === this.minute());
  }

  private refusal(admission: Admission): Decision | undefined {
    const toNextMinute = MINUTE_MS - (this.clock.now() % MINUTE_MS);
    const scopes = [
      { scope: 'key', limits: admission.keyLimits, mine: this.ofKey(admission) },
      { scope: 'organization', limits: admission.organizationLimits, mine: this.ofOrganization(admission) },
    ] as const;
    for (const { scope, limits, mine } of scopes) {
      const limit = limits.requestsPerMinute;
      if (limit !== undefined && this.thisMinute(mine).length + 1 > limit) {
        return { kind: 'refused', limitType: 'requests', scope, limit, retryAfterMs: toNextMinute };
      }
    }
    for (const { scope, limits, mine } of scopes) {
      const limit = limits.tokensPerMinute;
      if (limit === undefined) continue;
      const tokens = sumOfTokens(this.thisMinute(mine));
      if (limit === 0 || (tokens > 0 && tokens + admission.tokens > limit)) {
        return { kind: 'refused', limitType: 'tokens', scope, limit, retryAfterMs: toNextMinute };
      }
    }
    for (const { scope, limits, mine } of scopes) {
      const limit = limits.concurrency;
      if (limit !== undefined && this.running(mine).length + 1 > limit) {
        return { kind: 'refused', limitType: 'concurrency', scope, limit, retryAfterMs: 1_000 };
      }
    }
    return undefined;
  }

  private hasRoom(admission: Admission): boolean {
    return [
      { limits: admission.keyLimits, mine: this.ofKey(admission) },
      { limits: admission.organizationLimits, mine: this.ofOrganization(admission) },
    ].every(
      ({ limits: { tokensPerMinute = Infinity, concurrency = Infinity }, mine }) =>
        sumOfTokens(this.thisMinute(mine)) <= tokensPerMinute / 2 &&
        this.running(mine).length <= concurrency / 2,
    );
  }

  private running(records: readonly AdmissionRecord[]): readonly AdmissionRecord[] {
    return records.filter((record) => !record.finished && record.expiresMs > this.clock.now());
  }

  private state(
    admission: Admission,
    name: 'requestsPerMinute' | 'tokensPerMinute',
    count: (records: readonly AdmissionRecord[]) => number,
  ): WindowState | undefined {
    const candidates = [
      { limit: admission.keyLimits[name], mine: this.ofKey(admission) },
      { limit: admission.organizationLimits[name], mine: this.ofOrganization(admission) },
    ].flatMap(({ limit, mine }) =>
      limit === undefined
        ? []
        : [
            {
              limit,
              remaining: Math.max(0, limit - count(this.thisMinute(mine))),
              resetMs: MINUTE_MS - (this.clock.now() % MINUTE_MS),
            },
          ],
    );
    return candidates.sort((a, b) => a.remaining - b.remaining)[0];
  }

  private find({ admissionId, organizationId, keyId }: AdmissionRef): AdmissionRecord | undefined {
    return this.all.find(
      ({ admission, finished }) =>
        !finished &&
        admission.admissionId === admissionId &&
        admission.organizationId === organizationId &&
        admission.keyId === keyId,
    );
  }

  private minute(): number {
    return Math.floor(this.clock.now() / MINUTE_MS);
  }

  private thisMinute(records: readonly AdmissionRecord[]): readonly AdmissionRecord[] {
    return records.filter((record) => record.minute === this.minute() && record.tokens !== undefined);
  }

  private ofOrganization({ organizationId }: Admission): readonly AdmissionRecord[] {
    return this.all.filter(({ admission }) => admission.organizationId === organizationId);
  }

  private ofKey(admission: Admission): readonly AdmissionRecord[] {
    return this.ofOrganization(admission).filter((record) => record.admission.keyId === admission.keyId);
  }
}

function sumOfTokens(records: readonly AdmissionRecord[]): number {
  return records.reduce((sum, record) => sum + (record.tokens ?? 0), 0);
}

/**
 * Compares random histories of admissions, finishes, renewals and time with the
 * model. The seed is in the test's name; SIMULATION_SEED runs another one.
 */
export function describeLimitStoreSimulationSuite(
  name: string,
  open: OpenLimitStoreUnderTest,
  seeds: number,
): void {
  describe(`limit store ${name}, simulated`, () => {
    it.each(simulationSeeds(seeds))('matches the model for seed %i', async (seed) => {
      const { integer } = seededRandom(seed);
      const random = (below: number): number => integer(0, below - 1);
      const clock = new ManualClock(Date.UTC(2026, 0, 1) + random(MINUTE_MS));
      const model = new Model(clock);
      const { store, close } = await open({ clock, slotLeaseMs: SLOT_LEASE_MS });
      const requested: Admission[] = [];

      const maybe = (below: number): number | undefined => (random(3) === 0 ? undefined : random(below));
      const limits = (scale: number): Limits => ({
        requestsPerMinute: maybe(8 * scale),
        tokensPerMinute: maybe(400 * scale),
        concurrency: maybe(4 * scale),
      });
      const limitsById = new Map<string, Limits>();
      const limitsOf = (id: string, scale: number): Limits => {
        // Limits change from time to time.
        if (!limitsById.has(id) || random(30) === 0) limitsById.set(id, limits(scale));
        return limitsById.get(id) ?? {};
      };
      const newAdmission = (): Admission => {
        const organizationId = `org-${random(2)}`;
        const keyId = `key-${random(3)}`;
        const admission = {
          admissionId: `gen-${requested.length}`,
          organizationId,
          keyId,
          tokens: random(10) === 0 ? 1_000 : random(100),
          organizationLimits: limitsOf(organizationId, 2),
          keyLimits: limitsOf(`${organizationId}/${keyId}`, 1),
        };
        requested.push(admission);
        return admission;
      };
      /** A recent admission, so that it is likely to be running. */
      const someAdmission = (): Admission | undefined =>
        requested[requested.length - 1 - random(Math.min(requested.length, 12))];

      async function step(): Promise<void> {
        const choice = random(100);
        const some = requested.length > 0 ? someAdmission() : undefined;
        if (choice < 45 || some === undefined) {
          const batch = Array.from({ length: 1 + random(4) }, newAdmission);
          const expected = batch.map((admission) => model.admit(admission));
          expect(await store.admit(batch)).toEqual(expected);
        } else if (choice < 50) {
          if (model.isKnown(some)) expect(await store.admit([some])).toEqual([model.admit(some)]);
        } else if (choice < 72) {
          const outcome =
            random(3) === 0 ? { kind: 'returned' as const } : { kind: 'used' as const, tokens: random(300) };
          const { admissionId, organizationId, keyId } = some;
          const finished = { admissionId, organizationId, keyId, outcome };
          model.finish(finished);
          await store.finish([finished]);
        } else if (choice < 85) {
          model.renew(some);
          await store.renewSlots([some]);
        } else clock.pass(choice < 97 ? random(4_000) : random(2 * SLOT_LEASE_MS));
      }

      try {
        for (let count = 0; count < STEPS; count += 1) await step();
      } finally {
        await close();
      }
    });
  });
}
