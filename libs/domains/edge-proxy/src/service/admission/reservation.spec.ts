import { BillingLedgerDefinition, type Hold } from '@gateway/contracts/billing-ledger';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { bindService, createClient, createInProcessTransport, RpcError } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { createFaultPlan } from '../../testing/fault-plan';
import { createStubLedger } from '../../testing/stub-ledger';
import { createStubLimiter } from '../../testing/stub-limiter';
import { createLedger } from '../../adapters/rpc/ledger';
import { createRateLimiter } from '../../adapters/rpc/rate-limiter';
import { openReservation } from './reservation';

const HOLD: Hold = {
  holdId: 'gen-1',
  organizationId: 'org_1',
  keyId: 'key_1',
  amountNanoUsd: 1n,
  prices: undefined,
  organizationDailyBudgetNanoUsd: undefined,
  keyDailyBudgetNanoUsd: undefined,
  lifetimeMs: 0,
  createdUnixMs: 0n,
  idempotencyScope: undefined,
};

function setUp() {
  const faults = createFaultPlan();
  const stubLedger = createStubLedger(faults);
  const transport = createInProcessTransport([
    bindService(BillingLedgerDefinition, stubLedger.handlers),
    bindService(RateLimitDefinition, createStubLimiter(faults).handlers),
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
    clock,
    ledger,
    reservation: openReservation({ rateLimiter, ledger }, { maxWaitMs: 250, claimLeaseMs: 60_000 }),
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
  await reservation.finish({ usedTokens: 1, outcome: 'settles' });
  await reservation.release();
  await reservation.release();
  expect(faults.reached).toEqual(['ledger.hold', 'ledger.held']);
});
