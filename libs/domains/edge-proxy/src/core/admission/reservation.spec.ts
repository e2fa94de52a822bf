import { BillingLedgerDefinition, type Hold } from '@gateway/contracts/billing-ledger';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { bindService, createClient, createInProcessTransport, RpcError } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { createFaultPlan } from '../../testing/fault-plan';
import { createStubLedger } from '../../testing/stub-ledger';
import { createStubLimiter } from '../../testing/stub-limiter';
import { createLedger } from '../../adapters/rpc/ledger';
import { createRateLimiter } from '../../adapters/rpc/rate-limiter';
import { after } from '../../service/after';
import { openReservation } from './reservation';

const HOLD: Hold = {
  holdId: 'gen-1',
  organizationId: 'org_1',
  keyId: 'key_1',
  amountNanoUsd: 1n,
  prices: undefined,
  budgets: [],
  lifetimeMs: 0,
  createdUnixMs: 0n,
  idempotencyScope: undefined,
};

function setUp() {
  const faults = createFaultPlan();
  const stubLedger = createStubLedger(faults);
  const stubLimiter = createStubLimiter(faults);
  const transport = createInProcessTransport([
    bindService(BillingLedgerDefinition, stubLedger.handlers),
    bindService(RateLimitDefinition, stubLimiter.handlers),
  ]);
  const clock = { nowMs: 0 };
  const common = { now: () => clock.nowMs, log: createSilentLogger(), onReleaseDropped: () => {} };
  const ledger = createLedger({
    ...common,
    billingLedger: createClient(BillingLedgerDefinition, transport),
  });
  const rateLimiter = createRateLimiter({
    ...common,
    rateLimit: createClient(RateLimitDefinition, transport),
  });
  return {
    faults,
    stubLedger,
    stubLimiter,
    clock,
    ledger,
    reservation: openReservation({ rateLimiter, ledger, after }, { maxWaitMs: 250, claimLeaseMs: 60_000 }),
  };
}

it.each([
  ['was placed', 'ledger.held'],
  ['may still be placed', 'ledger.hold'],
])('releases a hold without a response that %s', async (_what, lostAt) => {
  const { faults, stubLedger, reservation } = setUp();
  faults.at(lostAt, () => {
    throw new RpcError('deadline_exceeded', 'too slow');
  });
  await expect(reservation.hold(HOLD)).rejects.toMatchObject({ code: 'no_capacity' });
  await reservation.release();
  expect(faults.reached).toContain('ledger.voided');
  expect(stubLedger.held.size).toBe(0);
});

describe('the release of a finished request', () => {
  const ADMISSION = { admissionId: 'gen-1', organizationId: 'org_1', keyId: 'key_1', tokens: 1 };
  const unlimited = { ...ADMISSION, organizationLimits: undefined, keyLimits: undefined };

  /** @returns whether `finish` resolved before the release was delivered. */
  async function finishesFirst(hasRoom: boolean): Promise<boolean> {
    const { faults, stubLimiter, reservation } = setUp();
    stubLimiter.hasRoom = hasRoom;
    await reservation.admit(unlimited);
    const order: string[] = [];
    const delivered = new Promise<void>((resolve) => {
      faults.at('limiter.finished', () => {
        order.push('delivered');
        resolve();
      });
    });
    await reservation.finish({ usedTokens: 1, outcome: 'completed' });
    order.push('finished');
    await delivered;
    expect(stubLimiter.outstanding.size).toBe(0);
    return order[0] === 'finished';
  }

  it('is waited for where a limit is nearly used', async () => {
    expect(await finishesFirst(false)).toBe(false);
  });

  it('is delivered in the background where the limits have room', async () => {
    expect(await finishesFirst(true)).toBe(true);
  });
});

describe('the claim of a request', () => {
  const CLAIM = {
    scope: 'scope-1',
    organizationId: 'org_1',
    bodySha256: Buffer.alloc(32),
    generationId: 'gen-1',
  };
  const REF = { scope: 'scope-1', generationId: 'gen-1' };

  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  /** Advances second by second, since due leases are checked once a second. */
  async function pass(seconds: number, clock: { nowMs: number }): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      clock.nowMs += 1_000;
      await jest.advanceTimersByTimeAsync(1_000);
    }
  }

  it('is renewed well before its lease expires, until it is released', async () => {
    const { stubLedger, ledger, reservation, clock } = setUp();
    ledger.start();
    await reservation.claim(CLAIM);
    await pass(19, clock);
    expect(stubLedger.renewals).toEqual([]);
    await pass(41, clock);
    expect(stubLedger.renewals).toEqual(Array(3).fill({ claims: [REF], leaseMs: 60_000 }));
    const released = reservation.release();
    await jest.advanceTimersByTimeAsync(1_000);
    await released;
    await pass(60, clock);
    expect(stubLedger.renewals).toHaveLength(3);
    ledger.stop();
  });

  it('is not renewed when another request holds it', async () => {
    const { stubLedger, ledger, reservation, clock } = setUp();
    ledger.start();
    stubLedger.claims.set('scope-1', { bodySha256: CLAIM.bodySha256, generationId: 'gen-0' });
    expect((await reservation.claim(CLAIM)).outcome?.$case).toBe('inFlight');
    await pass(60, clock);
    expect(stubLedger.renewals).toEqual([]);
    ledger.stop();
  });
});

it('releases nothing a second time, or after finish', async () => {
  const { faults, reservation } = setUp();
  await reservation.hold(HOLD);
  await reservation.finish({ usedTokens: 1, outcome: 'completed' });
  await reservation.release();
  await reservation.release();
  expect(faults.reached).toEqual(['ledger.hold', 'ledger.held']);
});
