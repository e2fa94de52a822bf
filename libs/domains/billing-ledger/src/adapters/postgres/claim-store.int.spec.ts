import { createAuditEntry } from '@gateway/test-support';
import { auditLedger } from '@gateway/ledger-audit';
import type { ClaimResult, ClaimRequest } from '../../core/idempotency/claim';
import { CLAIM_RETENTION_MS } from '../../core/limits';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '../../testing/ledger-fixture';

const LEASE_MS = 10_000;
const BODY = Buffer.alloc(32, 1);
const OTHER_BODY = Buffer.alloc(32, 2);

let fixture: LedgerFixture;
let scope: string;
let counter = 0;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  await fixture.first.store.addCredit(
    {
      creditId: 'credit',
      organizationId: 'org-a',
      amountNanoUsd: usdNano(1_000_000),
      note: 'test',
    },
    createAuditEntry(),
  );
});

afterAll(async () => {
  await fixture.close();
});

beforeEach(() => {
  scope = `scope-${(counter += 1)}`;
});

afterEach(async () => {
  expect((await auditLedger(fixture.first.pool)).faults).toEqual([]);
});

const generation = (name: string) => `${scope}-${name}`;

async function claim(name: string, more: Partial<ClaimRequest> = {}): Promise<ClaimResult> {
  const [outcome] = await fixture.first.claims.claimIdempotencyKeys([claimOf(name, more)]);
  return outcome as ClaimResult;
}

function claimOf(name: string, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    scope,
    organizationId: 'org-a',
    bodySha256: BODY,
    generationId: generation(name),
    leaseMs: LEASE_MS,
    responseKey: Buffer.from(`key of ${name}`),
    ...more,
  };
}

const hold = (name: string) =>
  fixture.first.store.holdCredit([
    makeHold({ holdId: generation(name), amount: 100, at: fixture.clock.now(), idempotencyScope: scope }),
  ]);

/** Settles generations at a cost of 10 each; those with a response complete the claim. */
async function settle(...outcomes: [name: string, response: string | undefined][]): Promise<number[]> {
  const { settlements } = await fixture.second.store.settleGenerations(
    outcomes.map(([name, response]) =>
      makeFinished({
        generationId: generation(name),
        cost: 10,
        at: fixture.clock.now(),
        endedClaim: {
          scope,
          ending: response === undefined ? 'failed' : 'completed',
          response: response === undefined ? undefined : { encrypted: Buffer.from(response) },
        },
      }),
    ),
    announce,
  );
  return settlements.map(({ chargedNanoUsd }) => Number(chargedNanoUsd));
}

async function replayed(name: string): Promise<string> {
  const outcome = await claim(name);
  return outcome.kind === 'completed' ? Buffer.from(outcome.response.encrypted).toString() : outcome.kind;
}

it('gives a key to one of many concurrent claims', async () => {
  const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(`g${index}`)));
  const kinds = outcomes.map(({ kind }) => kind).sort();
  expect(kinds).toEqual(['claimed', ...Array.from({ length: 7 }, () => 'in_flight')]);
});

it('decides each claim of a batch individually, and gives a repeated key to the first', async () => {
  const named = (name: string) => `${scope}-${name}`;
  await claim('g1', { scope: named('b') });
  await hold('g0');
  await claim('g0');
  await settle(['g0', 'response']);
  const outcomes = await fixture.first.claims.claimIdempotencyKeys([
    claimOf('g2', { scope: named('c') }),
    claimOf('g3', { scope: named('b') }),
    claimOf('g4', { scope: named('c') }),
    claimOf('g5', { bodySha256: OTHER_BODY }),
    claimOf('g6'),
    claimOf('g7', { scope: named('a') }),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual([
    'claimed',
    'in_flight',
    'in_flight',
    'body_mismatch',
    'completed',
    'claimed',
  ]);
  expect(outcomes[1]).toEqual({ kind: 'in_flight', generationId: generation('g1') });
  expect(outcomes[4]).toMatchObject({
    generationId: generation('g0'),
    response: { encrypted: Buffer.from('response'), key: Buffer.from('key of g0') },
  });
});

it('claims overlapping sets of keys concurrently, in any order, without a deadlock', async () => {
  const scopes = Array.from({ length: 20 }, (_, index) => `${scope}-${index}`);
  const bothWays = [scopes, [...scopes].reverse()];
  // A deadlock would be retried and show as an additional statement.
  const statements = [fixture.first, fixture.second].map(({ pool }) => jest.spyOn(pool, 'query'));
  const rounds = Array.from({ length: 10 }, (_, round) =>
    bothWays.map((names, way) =>
      fixture[way === 0 ? 'first' : 'second'].claims.claimIdempotencyKeys(
        names.map((name) => claimOf(`${round}-${way}`, { scope: name })),
      ),
    ),
  );
  const kinds = (await Promise.all(rounds.flat())).flat().map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(scopes.length);
  expect(statements.map(({ mock }) => mock.calls.length)).toEqual([rounds.length, rounds.length]);
  jest.restoreAllMocks();
});

it('returns the same outcome to a repeated claim by its holder', async () => {
  await claim('g1');
  expect(await claim('g1')).toMatchObject({ kind: 'claimed' });
});

it('refuses another body while the request runs and after it completed', async () => {
  await claim('g1');
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'body_mismatch' });
  await settle(['g1', 'response']);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'body_mismatch' });
});

it('stores the response with the charge, and replays it', async () => {
  await claim('g1');
  await hold('g1');
  expect(await settle(['g1', 'response'])).toEqual([10]);
  const outcome = await claim('g2');
  expect(outcome).toMatchObject({ kind: 'completed', generationId: generation('g1') });
  expect(await replayed('g3')).toBe('response');
});

it('allows a takeover after the lease has ended, not while it is renewed', async () => {
  await claim('g1');
  await fixture.clock.advance(LEASE_MS - 1);
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], LEASE_MS);
  await fixture.clock.advance(LEASE_MS - 1);
  expect(await claim('g2')).toMatchObject({ kind: 'in_flight' });
  await fixture.clock.advance(1);
  expect(await claim('g2')).toMatchObject({ kind: 'claimed' });
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], 10 * LEASE_MS);
  await fixture.clock.advance(LEASE_MS);
  expect(await claim('g3')).toMatchObject({ kind: 'claimed' });
});

it('is released only by its holder, and never after completion', async () => {
  await claim('g1');
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g2') }]);
  expect(await claim('g2')).toMatchObject({ kind: 'in_flight' });
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g1') }]);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'claimed' });
  await settle(['g2', 'response']);
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g2') }]);
  expect(await claim('g3', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'completed' });
});

describe('a released claim', () => {
  const release = (name: string) =>
    fixture.first.claims.releaseClaims([{ scope, generationId: generation(name) }]);
  const rows = async () => {
    const { rows: found } = await fixture.first.pool.query<{ state: string }>(
      'select state from idempotency_claims where scope like $1',
      [`${scope}%`],
    );
    return found.map(({ state }) => state);
  };

  it('is deleted when its generation never had a hold, also in a batch', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `refused-${index}`);
    const requests = names.map((name) => claimOf(name, { scope: `${scope}-${name}` }));
    await fixture.first.claims.claimIdempotencyKeys(requests);
    expect(await rows()).toHaveLength(100);
    await fixture.first.claims.releaseClaims(requests);
    expect(await rows()).toEqual([]);
  });

  it('stays when its generation has or had a hold, since a settlement may follow', async () => {
    await claim('g1');
    await hold('g1');
    await release('g1');
    expect(await rows()).toEqual(['released']);
    await fixture.first.store.voidHolds([{ holdId: generation('g1'), organizationId: 'org-a' }]);
    await claim('g1');
    await release('g1');
    expect(await rows()).toEqual(['released']);
  });

  it('stays when an earlier generation of the same body may still be settled', async () => {
    await claim('g1');
    await hold('g1');
    await fixture.clock.advance(LEASE_MS);
    await claim('g2');
    await release('g2');
    expect(await rows()).toEqual(['released']);
    expect(await settle(['g1', 'response of g1'])).toEqual([10]);
    expect(await replayed('g3')).toBe('response of g1');
  });

  it('is not deleted by another generation, nor after it was taken over', async () => {
    await claim('g1');
    await release('g2');
    expect(await rows()).toEqual(['running']);
    await fixture.clock.advance(LEASE_MS);
    await claim('g2');
    await release('g1');
    expect(await rows()).toEqual(['running']);
  });
});

describe('a key with two generations', () => {
  beforeEach(async () => {
    await claim('g1');
    await hold('g1');
    await fixture.clock.advance(LEASE_MS);
    await claim('g2');
    await hold('g2');
  });

  it.each([
    ['the older', 'g1', 'g2'],
    ['the newer', 'g2', 'g1'],
  ])(
    'is charged once when %s settles first, and releases the hold of the other',
    async (_which, first, second) => {
      const before = await fixture.first.store.readBalance('org-a');
      expect(await settle([first, `response of ${first}`])).toEqual([10]);
      expect(await settle([second, `response of ${second}`])).toEqual([0]);
      expect(await replayed('g3')).toBe(`response of ${first}`);
      const after = await fixture.first.store.readBalance('org-a');
      expect(after.availableNanoUsd - before.availableNanoUsd).toBe(190n);
    },
  );

  it('is charged once when both settle in one batch', async () => {
    expect(await settle(['g1', 'response of g1'], ['g2', 'response of g2'])).toEqual([10, 0]);
    expect(await replayed('g3')).toBe('response of g1');
  });

  it('is charged once when both settle concurrently', async () => {
    const charges = await Promise.all([settle(['g1', 'one']), settle(['g2', 'two'])]);
    expect(charges.flat().sort()).toEqual([0, 10]);
  });

  it('stays claimed by the newer one when the older one fails', async () => {
    await settle(['g1', undefined]);
    expect(await claim('g3')).toMatchObject({ kind: 'in_flight' });
    await settle(['g2', 'response of g2']);
    expect(await replayed('g3')).toBe('response of g2');
  });

  it('is completed by the older one when the newer one fails, so that no third is charged', async () => {
    await settle(['g2', undefined]);
    await settle(['g1', 'response of g1']);
    expect(await replayed('g3')).toBe('response of g1');
  });
});

it('is released by a settlement without an ended claim', async () => {
  await claim('g1');
  await hold('g1');
  const withoutOutcome = makeFinished({ generationId: generation('g1'), cost: 10, at: fixture.clock.now() });
  await fixture.second.store.settleGenerations([withoutOutcome], announce);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'claimed' });
});

it('charges a failed generation and frees its key', async () => {
  await claim('g1');
  expect(await settle(['g1', undefined])).toEqual([10]);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'claimed' });
});

it('does not store the late response of an earlier body for another body', async () => {
  await claim('g1');
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g1') }]);
  await claim('g2', { bodySha256: OTHER_BODY });
  expect(await settle(['g1', 'response to the first body'])).toEqual([10]);
  expect(await claim('g3', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'in_flight' });
});

it('stores a response for 24 hours, then deletes it', async () => {
  await claim('g1');
  await settle(['g1', 'response']);
  await fixture.clock.advance(CLAIM_RETENTION_MS - 1);
  while ((await fixture.first.claims.deleteExpiredClaims(2)) > 0);
  expect(await replayed('g2')).toBe('response');
  await fixture.clock.advance(1);
  expect(await fixture.first.claims.deleteExpiredClaims(100)).toBeGreaterThan(0);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'claimed' });
});

it('ignores a response past its retention, also before it is deleted', async () => {
  await claim('g1');
  await settle(['g1', 'response']);
  await fixture.clock.advance(CLAIM_RETENTION_MS);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'claimed' });
});

it('keeps a claim past its retention until the lease of its request ends', async () => {
  await claim('g1');
  await fixture.clock.advance(CLAIM_RETENTION_MS);
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], LEASE_MS);
  while ((await fixture.first.claims.deleteExpiredClaims(100)) > 0);
  expect(await claim('g2')).toMatchObject({ kind: 'in_flight' });
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'body_mismatch' });
  await fixture.clock.advance(LEASE_MS);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'claimed' });
});

it('deletes a claim past its retention once the lease of its request has ended', async () => {
  await claim('g1');
  await fixture.clock.advance(CLAIM_RETENTION_MS);
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], LEASE_MS);
  while ((await fixture.first.claims.deleteExpiredClaims(100)) > 0);
  await fixture.clock.advance(LEASE_MS - 1);
  expect(await fixture.first.claims.deleteExpiredClaims(100)).toBe(0);
  await fixture.clock.advance(1);
  expect(await fixture.first.claims.deleteExpiredClaims(100)).toBe(1);
});

it('stores the latest 64 generations of a key: only their responses complete the claim', async () => {
  const names = Array.from({ length: 70 }, (_, index) => `g${index}`);
  for (const name of names) {
    expect(await claim(name)).toMatchObject({ kind: 'claimed' });
    await fixture.clock.advance(LEASE_MS);
  }
  const [evicted = '', stored = ''] = names.slice(70 - 64 - 1);
  expect(await settle([evicted, 'too early'])).toEqual([10]);
  expect(await claim('one more')).toMatchObject({ kind: 'claimed' });
  // The next claimant evicts the oldest.
  expect(await settle([stored, 'too early too'])).toEqual([10]);
  expect(await claim('g-next')).toMatchObject({ kind: 'in_flight' });
  expect(await settle([names[7] as string, 'response'])).toEqual([10]);
  expect(await replayed('g-last')).toBe('response');
});

describe('the key of a response', () => {
  const keyOf = (outcome: ClaimResult) =>
    outcome.kind === 'claimed' ? Buffer.from(outcome.responseKey).toString() : outcome.kind;

  it('stays the same for all generations that may complete the claim', async () => {
    expect(keyOf(await claim('g1'))).toBe('key of g1');
    expect(keyOf(await claim('g1', { responseKey: Buffer.from('another') }))).toBe('key of g1');
    await fixture.clock.advance(LEASE_MS);
    expect(keyOf(await claim('g2'))).toBe('key of g1');
    await hold('g1');
    await settle(['g1', 'response of g1']);
    expect(await claim('g3')).toMatchObject({
      generationId: generation('g1'),
      response: { encrypted: Buffer.from('response of g1'), key: Buffer.from('key of g1') },
    });
  });

  it('is replaced with the body, and after the retention', async () => {
    await claim('g1');
    await hold('g1');
    await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g1') }]);
    expect(keyOf(await claim('g2', { bodySha256: OTHER_BODY }))).toBe('key of g2');
    await hold('g2');
    await settle(['g2', 'response of g2']);
    await fixture.clock.advance(CLAIM_RETENTION_MS);
    expect(keyOf(await claim('g3', { bodySha256: OTHER_BODY }))).toBe('key of g3');
  });
});
