import type { Clock, UnixMs } from '@gateway/base';
import type { Admission, Decision, FinishedAdmission, Limits } from '../core/limits';
import type { LimitStore } from '../core/ports';

interface OpenLimitStore {
  readonly store: LimitStore;
  close(): Promise<void>;
}

/** Opens an empty store that uses this clock. */
export type OpenLimitStoreUnderTest = (options: {
  readonly clock: Clock;
  readonly slotLeaseMs: number;
}) => Promise<OpenLimitStore>;

/** A clock that advances only by `pass`. */
export class ManualClock implements Clock {
  constructor(private at: number) {}

  now(): UnixMs {
    return this.at as UnixMs;
  }

  pass(ms: number): void {
    this.at += ms;
  }

  /** Advances to `ms` after the start of the next UTC minute. */
  passToNextMinute(ms = 0): void {
    this.at = (Math.floor(this.at / 60_000) + 1) * 60_000 + ms;
  }
}

const SLOT_LEASE_MS = 20_000;
/** Fifteen seconds into a UTC minute. */
const START_MS = Date.UTC(2026, 0, 31, 23, 59, 15);
const LEFT_MS = 45_000;

const used = (tokens: number): FinishedAdmission['outcome'] => ({ kind: 'used', tokens });
const returned: FinishedAdmission['outcome'] = { kind: 'returned' };

/** The duties of every LimitStore. */
export function describeLimitStoreSuite(name: string, open: OpenLimitStoreUnderTest): void {
  describe(`limit store ${name}`, () => {
    let clock: ManualClock;
    let opened: OpenLimitStore;
    let ids: number;

    beforeEach(async () => {
      clock = new ManualClock(START_MS);
      opened = await open({ clock, slotLeaseMs: SLOT_LEASE_MS });
      ids = 0;
    });
    afterEach(() => opened.close());

    function request(
      { key = {}, organization = {} }: { key?: Limits; organization?: Limits },
      rest: Partial<Admission> = {},
    ): Admission {
      ids += 1;
      return {
        admissionId: `gen-${ids}`,
        organizationId: 'org-1',
        keyId: 'key-1',
        tokens: 1,
        keyLimits: key,
        organizationLimits: organization,
        ...rest,
      };
    }

    async function admit(admission: Admission): Promise<Decision> {
      const [decision] = await opened.store.admit([admission]);
      if (decision === undefined) throw new Error('no decision');
      return decision;
    }

    const finish = (admission: Admission, outcome: FinishedAdmission['outcome']) =>
      opened.store.finish([{ ...refOf(admission), outcome }]);
    const renew = (admission: Admission) => opened.store.renewSlots([refOf(admission)]);

    function refOf({ admissionId, organizationId, keyId }: Admission) {
      return { admissionId, organizationId, keyId };
    }

    describe('requests per minute', () => {
      const limits = { key: { requestsPerMinute: 2 } };

      it('are admitted up to the limit and refused to the end of the UTC minute', async () => {
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
        expect(await admit(request(limits))).toMatchObject({
          kind: 'refused',
          limitType: 'requests',
          scope: 'key',
          limit: 2,
          retryAfterMs: LEFT_MS,
        });
        clock.pass(LEFT_MS - 1);
        expect(await admit(request(limits))).toMatchObject({ kind: 'refused', retryAfterMs: 1 });
        clock.pass(1);
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
      });

      it('are counted per key, and per organization over all keys', async () => {
        const both = { key: { requestsPerMinute: 2 }, organization: { requestsPerMinute: 3 } };
        for (const keyId of ['key-1', 'key-1', 'key-2']) {
          expect(await admit(request(both, { keyId }))).toMatchObject({ kind: 'admitted' });
        }
        expect(await admit(request(both, { keyId: 'key-2' }))).toMatchObject({
          kind: 'refused',
          scope: 'organization',
        });
        expect(await admit(request(both, { organizationId: 'org-2' }))).toMatchObject({ kind: 'admitted' });
      });

      it('of zero admit nothing', async () => {
        expect(await admit(request({ organization: { requestsPerMinute: 0 } }))).toMatchObject({
          kind: 'refused',
          limitType: 'requests',
          scope: 'organization',
          limit: 0,
        });
      });

      it('are counted before a limit is set', async () => {
        await admit(request({}));
        expect(await admit(request({ key: { requestsPerMinute: 1 } }))).toMatchObject({ kind: 'refused' });
      });
    });

    describe('tokens per minute', () => {
      const limits = { organization: { tokensPerMinute: 100 } };

      it('are admitted while they fit', async () => {
        expect(await admit(request(limits, { tokens: 60 }))).toMatchObject({ kind: 'admitted' });
        expect(await admit(request(limits, { tokens: 41 }))).toMatchObject({
          kind: 'refused',
          limitType: 'tokens',
          scope: 'organization',
          limit: 100,
          retryAfterMs: LEFT_MS,
        });
        expect(await admit(request(limits, { tokens: 40 }))).toMatchObject({ kind: 'admitted' });
      });

      it('of a request above the whole limit are admitted into an empty window only', async () => {
        expect(await admit(request(limits, { tokens: 1_000 }))).toMatchObject({
          kind: 'admitted',
          tokens: { limit: 100, remaining: 0 },
        });
        expect(await admit(request(limits, { tokens: 1 }))).toMatchObject({
          kind: 'refused',
          limitType: 'tokens',
        });
        clock.passToNextMinute();
        await admit(request(limits, { tokens: 1 }));
        expect(await admit(request(limits, { tokens: 1_000 }))).toMatchObject({ kind: 'refused' });
      });

      it('of zero admit nothing, not even into an empty window', async () => {
        expect(await admit(request({ key: { tokensPerMinute: 0 } }))).toMatchObject({
          kind: 'refused',
          limit: 0,
        });
      });
    });

    describe('concurrency', () => {
      const limits = { key: { concurrency: 1 } };

      it('is refused while all slots are in use, and admitted when one is free', async () => {
        const first = request(limits);
        expect(await admit(first)).toMatchObject({ kind: 'admitted', slotLeaseMs: SLOT_LEASE_MS });
        expect(await admit(request(limits))).toMatchObject({
          kind: 'refused',
          limitType: 'concurrency',
          scope: 'key',
          limit: 1,
          retryAfterMs: 1_000,
        });
        await finish(first, used(1));
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
      });

      it('counts a request that continues in the next minute', async () => {
        const longLease = request(limits);
        await admit(longLease);
        for (let passed = 0; passed < LEFT_MS; passed += SLOT_LEASE_MS / 2) {
          clock.pass(SLOT_LEASE_MS / 2);
          await renew(longLease);
        }
        expect(await admit(request(limits))).toMatchObject({ kind: 'refused', limitType: 'concurrency' });
        await finish(longLease, used(1));
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
      });

      it('is free again exactly when a lease expires', async () => {
        await admit(request(limits));
        clock.pass(SLOT_LEASE_MS - 1);
        expect(await admit(request(limits))).toMatchObject({ kind: 'refused' });
        clock.pass(1);
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
      });

      it('stays in use for a full lease after each renewal', async () => {
        const running = request(limits);
        await admit(running);
        clock.pass(SLOT_LEASE_MS - 1);
        await renew(running);
        clock.pass(SLOT_LEASE_MS - 1);
        expect(await admit(request(limits))).toMatchObject({ kind: 'refused' });
        clock.pass(1);
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
      });

      it('is not taken again by renewing an expired lease', async () => {
        const slow = request(limits);
        await admit(slow);
        clock.pass(SLOT_LEASE_MS);
        await renew(slow);
        expect(await admit(request(limits))).toMatchObject({ kind: 'admitted' });
      });

      it('is not freed twice when a lease expires and the request then finishes', async () => {
        const pair = { key: { concurrency: 2 } };
        const slow = request(pair);
        await admit(slow);
        clock.pass(SLOT_LEASE_MS);
        await admit(request(pair));
        await admit(request(pair));
        await finish(slow, used(1));
        expect(await admit(request(pair))).toMatchObject({ kind: 'refused', limitType: 'concurrency' });
      });
    });

    describe('room', () => {
      it.each<[name: string, limits: { key?: Limits; organization?: Limits }, tokens: number]>([
        ['slots of the key', { key: { concurrency: 4 } }, 1],
        ['slots of the organization', { organization: { concurrency: 4 } }, 1],
        ['tokens of the key', { key: { tokensPerMinute: 100 } }, 25],
        ['tokens of the organization', { organization: { tokensPerMinute: 100 } }, 25],
      ])('is left while at most half of the %s are in use', async (_name, limits, tokens) => {
        const first = request(limits, { tokens });
        expect(await admit(first)).toMatchObject({ kind: 'admitted', hasRoom: true });
        expect(await admit(request(limits, { tokens }))).toMatchObject({ hasRoom: true });
        expect(await admit(request(limits, { tokens }))).toMatchObject({ hasRoom: false });
        await finish(first, used(0));
        expect(await admit(request(limits, { tokens: 0 }))).toMatchObject({
          hasRoom: limits.key?.concurrency === undefined && limits.organization?.concurrency === undefined,
        });
      });

      it('is left where no limit applies', async () => {
        expect(await admit(request({}, { tokens: 1_000_000 }))).toMatchObject({ hasRoom: true });
      });
    });

    describe('all or nothing', () => {
      it('reserves nothing for the organization when the key refuses, and vice versa', async () => {
        const organization = { requestsPerMinute: 2, tokensPerMinute: 10, concurrency: 2 };
        for (const key of [{ requestsPerMinute: 0 }, { tokensPerMinute: 0 }, { concurrency: 0 }]) {
          expect(await admit(request({ key, organization }, { tokens: 5 }))).toMatchObject({
            kind: 'refused',
            scope: 'key',
          });
          const turned = request({ key: organization, organization: key }, { tokens: 5 });
          expect(await admit(turned)).toMatchObject({ kind: 'refused', scope: 'organization' });
        }
        const both = { key: organization, organization };
        expect(await admit(request(both, { tokens: 5 }))).toMatchObject({
          kind: 'admitted',
          requests: { remaining: 1 },
          tokens: { remaining: 5 },
        });
        expect(await admit(request(both, { tokens: 5 }))).toMatchObject({ kind: 'admitted' });
      });

      it('checks requests before tokens before concurrency, and the key before the organization', async () => {
        const order = [
          ['key', 'requests', 'requestsPerMinute'],
          ['organization', 'requests', 'requestsPerMinute'],
          ['key', 'tokens', 'tokensPerMinute'],
          ['organization', 'tokens', 'tokensPerMinute'],
          ['key', 'concurrency', 'concurrency'],
          ['organization', 'concurrency', 'concurrency'],
        ] as const;
        for (let from = 0; from < order.length; from += 1) {
          const exhausted = { key: {} as Record<string, number>, organization: {} as Record<string, number> };
          for (const [scope, , limit] of order.slice(from)) exhausted[scope][limit] = 0;
          const [scope, limitType] = order[from] ?? order[0];
          expect(await admit(request(exhausted))).toMatchObject({ kind: 'refused', scope, limitType });
        }
      });

      it('decides the admissions of one call in order and separately', async () => {
        const limits = { key: { tokensPerMinute: 10 } };
        const decisions = await opened.store.admit([
          request(limits, { tokens: 6 }),
          request(limits, { tokens: 6 }),
          request(limits, { tokens: 4 }),
          request(limits, { tokens: 6, keyId: 'key-2' }),
        ]);
        expect(decisions.map(({ kind }) => kind)).toEqual(['admitted', 'refused', 'admitted', 'admitted']);
      });

      it.each([1, 7, 200])(
        'admits exactly the limit of 200 concurrent requests, in calls of %i',
        async (batchSize) => {
          const organization = { requestsPerMinute: 50, concurrency: 60 };
          const admissions = Array.from({ length: 200 }, (_, index) =>
            request({ organization, key: { concurrency: 20 } }, { keyId: `key-${index % 5}` }),
          );
          const calls: Promise<readonly Decision[]>[] = [];
          for (let from = 0; from < admissions.length; from += batchSize) {
            calls.push(opened.store.admit(admissions.slice(from, from + batchSize)));
          }
          const decisions = (await Promise.all(calls)).flat();
          expect(decisions.filter(({ kind }) => kind === 'admitted')).toHaveLength(50);
        },
      );
    });

    describe('finishing', () => {
      const limits = { key: { requestsPerMinute: 2, tokensPerMinute: 100, concurrency: 2 } };

      it('as returned releases the request, its tokens and its slot', async () => {
        const first = request(limits, { tokens: 100 });
        await admit(first);
        await finish(first, returned);
        expect(await admit(request(limits, { tokens: 100 }))).toMatchObject({
          kind: 'admitted',
          requests: { remaining: 1 },
          tokens: { remaining: 0 },
        });
      });

      it('as used replaces the tokens and counts the request', async () => {
        const first = request(limits, { tokens: 80 });
        await admit(first);
        await finish(first, used(30));
        expect(await admit(request(limits, { tokens: 70 }))).toMatchObject({
          kind: 'admitted',
          requests: { remaining: 0 },
          tokens: { remaining: 0 },
        });
      });

      it('as used may count more than was estimated', async () => {
        const first = request(limits, { tokens: 10 });
        await admit(first);
        await finish(first, used(150));
        expect(await admit(request(limits))).toMatchObject({ kind: 'refused', limitType: 'tokens' });
      });

      it.each([
        ['returned', returned],
        ['used', used(0)],
      ])('as %s after its minute does not change the new window', async (_, outcome) => {
        const first = request(limits, { tokens: 50 });
        await admit(first);
        clock.passToNextMinute();
        await renew(first);
        await admit(request(limits, { tokens: 60 }));
        await finish(first, outcome);
        expect(await admit(request(limits, { tokens: 40 }))).toMatchObject({
          kind: 'admitted',
          requests: { remaining: 0 },
          tokens: { remaining: 0 },
        });
      });

      it('corrects the tokens also when the lease has expired', async () => {
        const first = request(limits, { tokens: 80 });
        await admit(first);
        clock.pass(SLOT_LEASE_MS);
        await finish(first, used(10));
        expect(await admit(request(limits))).toMatchObject({ tokens: { remaining: 89 } });
      });

      it('is idempotent', async () => {
        const [first, second] = [request(limits, { tokens: 40 }), request(limits, { tokens: 40 })];
        await opened.store.admit([first, second]);
        await finish(first, returned);
        await finish(first, returned);
        await finish(first, used(90));
        expect(await admit(request(limits, { tokens: 60 }))).toMatchObject({
          kind: 'admitted',
          requests: { remaining: 0 },
          tokens: { remaining: 0 },
        });
        expect(await admit(request({ key: { concurrency: 2 } }))).toMatchObject({ kind: 'refused' });
      });

      it('has no effect for an unknown id, or for an id of another key or organization', async () => {
        const first = request(limits, { tokens: 100 });
        await admit(first);
        await finish(request(limits), returned);
        await finish({ ...first, keyId: 'key-2' }, returned);
        await finish({ ...first, organizationId: 'org-2' }, returned);
        expect(await admit(request(limits))).toMatchObject({ kind: 'refused', limitType: 'tokens' });
      });
    });

    it('admits a running id again without reserving anything', async () => {
      const limits = { key: { requestsPerMinute: 2, concurrency: 2, tokensPerMinute: 10 } };
      const first = request(limits, { tokens: 5 });
      await admit(first);
      expect(await admit(first)).toMatchObject({
        kind: 'admitted',
        requests: { remaining: 1 },
        tokens: { remaining: 5 },
      });
      await finish(first, returned);
      expect(await admit(request(limits))).toMatchObject({
        requests: { remaining: 1 },
        tokens: { remaining: 9 },
      });
    });

    describe('the reported windows', () => {
      it('are those with the least remaining, with the time to the end of the minute', async () => {
        const limits = {
          key: { requestsPerMinute: 10, tokensPerMinute: 1_000 },
          organization: { requestsPerMinute: 100, tokensPerMinute: 500 },
        };
        expect(await admit(request(limits, { tokens: 100 }))).toMatchObject({
          requests: { limit: 10, remaining: 9, resetMs: LEFT_MS },
          tokens: { limit: 500, remaining: 400, resetMs: LEFT_MS },
        });
      });

      it('are absent where neither has such a limit', async () => {
        const decision = await admit(request({ key: { requestsPerMinute: 1 } }));
        expect(decision.requests).toEqual({ limit: 1, remaining: 0, resetMs: LEFT_MS });
        expect(decision.tokens).toBeUndefined();
      });

      it('report the remaining counts of a refused request', async () => {
        const limits = { organization: { requestsPerMinute: 5, tokensPerMinute: 10 } };
        await admit(request(limits, { tokens: 8 }));
        expect(await admit(request(limits, { tokens: 3 }))).toMatchObject({
          kind: 'refused',
          requests: { limit: 5, remaining: 4 },
          tokens: { limit: 10, remaining: 2 },
        });
      });
    });
  });
}
