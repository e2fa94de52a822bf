import { BillingLedgerDefinition, type Hold } from '@gateway/contracts/billing-ledger';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { bindService, createClient, createInProcessTransport, RpcError } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { createFaultPlan } from '../testing/fault-plan';
import { createStubLedger } from '../testing/stub-ledger';
import { createStubLimiter } from '../testing/stub-limiter';
import { createLedgerClient } from './ledger-client';
import { createLimiterClient } from './limiter-client';
import { openReservation } from './reservation';

const HOLD: Hold = {
  holdId: 'gen-1',
  organizationId: 'org_1',
  keyId: 'key_1',
  amountNanoUsd: 1n,
  prices: undefined,
  organizationDailyBudgetNanoUsd: undefined,
  keyDailyBudgetNanoUsd: undefined,
  deadlineUnixMs: 0n,
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
  const common = { now: () => 0, log: createSilentLogger(), onReleaseDropped: () => {} };
  const ledger = createLedgerClient(
    { ...common, billingLedger: createClient(BillingLedgerDefinition, transport) },
    { claimLeaseMs: 60_000 },
  );
  const limiter = createLimiterClient({ ...common, rateLimit: createClient(RateLimitDefinition, transport) });
  return {
    faults,
    stubLedger,
    ledger,
    reservation: openReservation({ limiter, ledger }, { maxWaitMs: 250 }),
  };
}

test.each([
  ['was taken', 'ledger.held'],
  ['may yet be taken', 'ledger.hold'],
])('a hold without an answer that %s is released', async (_what, lostAt) => {
  const { faults, stubLedger, reservation } = setUp();
  faults.at(lostAt, () => {
    throw new RpcError('deadline_exceeded', 'too slow');
  });
  await expect(reservation.hold(HOLD)).rejects.toMatchObject({ code: 'no_capacity' });
  await reservation.release();
  expect(faults.reached).toContain('ledger.voided');
  expect(stubLedger.held.size).toBe(0);
});

test('releasing twice, or after the end, releases nothing again', async () => {
  const { faults, reservation } = setUp();
  await reservation.hold(HOLD);
  await reservation.end({ usedTokens: 1, outcome: 'settles' });
  await reservation.release();
  await reservation.release();
  expect(faults.reached).toEqual(['ledger.hold', 'ledger.held']);
});
