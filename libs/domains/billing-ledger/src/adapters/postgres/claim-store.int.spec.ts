import type { UnixMs } from '@gateway/base';
import { auditLedger } from '@gateway/ledger-audit';
import type { ClaimOutcome, ClaimRequest } from '../../core/idempotency/claim';
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
  await fixture.first.store.addCredit({
    creditId: 'credit',
    organizationId: 'org-a',
    amountNanoUsd: usdNano(1_000_000),
    note: 'test',
  });
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

async function claim(name: string, more: Partial<ClaimRequest> = {}): Promise<ClaimOutcome> {
  const [outcome] = await fixture.first.claims.claimIdempotencyKeys([claimOf(name, more)]);
  return outcome as ClaimOutcome;
}

function claimOf(name: string, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    scope,
    organizationId: 'org-a',
    bodySha256: BODY,
    generationId: generation(name),
    leaseEndsUnixMs: (fixture.clock.now() + LEASE_MS) as UnixMs,
    ...more,
  };
}

const hold = (name: string) =>
  fixture.first.store.holdCredit([
    makeHold({ holdId: generation(name), amount: 100, at: fixture.clock.now(), idempotencyScope: scope }),
  ]);

/** Settles generations at a cost of 10 each; those with an answer complete the claim. */
async function settle(...outcomes: [name: string, answer: string | undefined][]): Promise<number[]> {
  const { settlements } = await fixture.second.store.settleGenerations(
    outcomes.map(([name, answer]) =>
      makeFinished({
        generationId: generation(name),
        cost: 10,
        at: fixture.clock.now(),
        idempotentOutcome: {
          scope,
          ending: answer === undefined ? 'failed' : 'answered',
          responseJson: answer === undefined ? undefined : Buffer.from(answer),
        },
      }),
    ),
    announce,
  );
  return settlements.map(({ chargedNanoUsd }) => Number(chargedNanoUsd));
}

async function answered(name: string): Promise<string> {
  const outcome = await claim(name);
  return outcome.kind === 'completed' ? Buffer.from(outcome.responseJson).toString() : outcome.kind;
}

it('gives a key to one of many who claim it at once', async () => {
  const outcomes = await Promise.all(Array.from({ length: 8 }, (_, index) => claim(`g${index}`)));
  const kinds = outcomes.map(({ kind }) => kind).sort();
  expect(kinds).toEqual(['claimed', ...Array.from({ length: 7 }, () => 'in_flight')]);
});

it('decides many at once, each for itself, and of one key the first', async () => {
  const named = (name: string) => `${scope}-${name}`;
  await claim('g1', { scope: named('b') });
  await hold('g0');
  await claim('g0');
  await settle(['g0', 'answer']);
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
  expect(outcomes[4]).toMatchObject({ generationId: generation('g0') });
});

it('claims overlapping sets of keys at once, in any order, without a deadlock', async () => {
  const scopes = Array.from({ length: 20 }, (_, index) => `${scope}-${index}`);
  const bothWays = [scopes, [...scopes].reverse()];
  // A deadlock would be repeated, and so be no more than another statement.
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

it('answers its holder again as the first time', async () => {
  await claim('g1');
  expect(await claim('g1')).toEqual({ kind: 'claimed' });
});

it('tells another body from the first, while it runs and after', async () => {
  await claim('g1');
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'body_mismatch' });
  await settle(['g1', 'answer']);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'body_mismatch' });
});

it('stores the answer with the charge, and replays it', async () => {
  await claim('g1');
  await hold('g1');
  expect(await settle(['g1', 'answer'])).toEqual([10]);
  const outcome = await claim('g2');
  expect(outcome).toMatchObject({ kind: 'completed', generationId: generation('g1') });
  expect(await answered('g3')).toBe('answer');
});

it('lets a claim be taken over when its lease has ended, and not while it is renewed', async () => {
  await claim('g1');
  fixture.clock.advance(LEASE_MS - 1);
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], LEASE_MS);
  fixture.clock.advance(LEASE_MS - 1);
  expect(await claim('g2')).toEqual({ kind: 'in_flight' });
  fixture.clock.advance(1);
  expect(await claim('g2')).toEqual({ kind: 'claimed' });
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], 10 * LEASE_MS);
  fixture.clock.advance(LEASE_MS);
  expect(await claim('g3')).toEqual({ kind: 'claimed' });
});

it('is released by its holder only, and never once completed', async () => {
  await claim('g1');
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g2') }]);
  expect(await claim('g2')).toEqual({ kind: 'in_flight' });
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g1') }]);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'claimed' });
  await settle(['g2', 'answer']);
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g2') }]);
  expect(await claim('g3', { bodySha256: OTHER_BODY })).toMatchObject({ kind: 'completed' });
});

describe('a key that two generations ran under', () => {
  beforeEach(async () => {
    await claim('g1');
    await hold('g1');
    fixture.clock.advance(LEASE_MS);
    await claim('g2');
    await hold('g2');
  });

  it.each([
    ['the older', 'g1', 'g2'],
    ['the newer', 'g2', 'g1'],
  ])(
    'is charged once when %s settles first, and gives the other its hold back',
    async (_who, first, second) => {
      const before = await fixture.first.store.readBalance('org-a');
      expect(await settle([first, `answer of ${first}`])).toEqual([10]);
      expect(await settle([second, `answer of ${second}`])).toEqual([0]);
      expect(await answered('g3')).toBe(`answer of ${first}`);
      const after = await fixture.first.store.readBalance('org-a');
      expect(after.availableNanoUsd - before.availableNanoUsd).toBe(190n);
    },
  );

  it('is charged once when both settle in one batch', async () => {
    expect(await settle(['g1', 'answer of g1'], ['g2', 'answer of g2'])).toEqual([10, 0]);
    expect(await answered('g3')).toBe('answer of g1');
  });

  it('is charged once when both settle at once', async () => {
    const charges = await Promise.all([settle(['g1', 'one']), settle(['g2', 'two'])]);
    expect(charges.flat().sort()).toEqual([0, 10]);
  });

  it('stays with the newer one when the older one fails', async () => {
    await settle(['g1', undefined]);
    expect(await claim('g3')).toEqual({ kind: 'in_flight' });
    await settle(['g2', 'answer of g2']);
    expect(await answered('g3')).toBe('answer of g2');
  });

  it('is answered by the older one when the newer one fails, so that no third is charged', async () => {
    await settle(['g2', undefined]);
    await settle(['g1', 'answer of g1']);
    expect(await answered('g3')).toBe('answer of g1');
  });
});

it('is freed by a settlement that tells no outcome of it', async () => {
  await claim('g1');
  await hold('g1');
  const silent = makeFinished({ generationId: generation('g1'), cost: 10, at: fixture.clock.now() });
  await fixture.second.store.settleGenerations([silent], announce);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'claimed' });
});

it('charges a failed generation and frees its key', async () => {
  await claim('g1');
  expect(await settle(['g1', undefined])).toEqual([10]);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'claimed' });
});

it('does not answer another body with what an earlier body produced late', async () => {
  await claim('g1');
  await fixture.first.claims.releaseClaims([{ scope, generationId: generation('g1') }]);
  await claim('g2', { bodySha256: OTHER_BODY });
  expect(await settle(['g1', 'answer to the first body'])).toEqual([10]);
  expect(await claim('g3', { bodySha256: OTHER_BODY })).toEqual({ kind: 'in_flight' });
});

it('keeps an answer for 24 hours, then forgets it', async () => {
  await claim('g1');
  await settle(['g1', 'answer']);
  fixture.clock.advance(CLAIM_RETENTION_MS - 1);
  while ((await fixture.first.claims.trimClaims(2)) > 0);
  expect(await answered('g2')).toBe('answer');
  fixture.clock.advance(1);
  expect(await fixture.first.claims.trimClaims(100)).toBeGreaterThan(0);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'claimed' });
});

it('counts an answer past its retention as none, also before it is trimmed', async () => {
  await claim('g1');
  await settle(['g1', 'answer']);
  fixture.clock.advance(CLAIM_RETENTION_MS);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'claimed' });
});

it('keeps a claim past its retention for as long as its request runs, and not a moment longer', async () => {
  await claim('g1');
  fixture.clock.advance(CLAIM_RETENTION_MS);
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], LEASE_MS);
  while ((await fixture.first.claims.trimClaims(100)) > 0);
  expect(await claim('g2')).toEqual({ kind: 'in_flight' });
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'body_mismatch' });
  fixture.clock.advance(LEASE_MS);
  expect(await claim('g2', { bodySha256: OTHER_BODY })).toEqual({ kind: 'claimed' });
});

it('trims a claim past its retention once its request does not run any more', async () => {
  await claim('g1');
  fixture.clock.advance(CLAIM_RETENTION_MS);
  await fixture.first.claims.renewClaims([{ scope, generationId: generation('g1') }], LEASE_MS);
  while ((await fixture.first.claims.trimClaims(100)) > 0);
  fixture.clock.advance(LEASE_MS - 1);
  expect(await fixture.first.claims.trimClaims(100)).toBe(0);
  fixture.clock.advance(1);
  expect(await fixture.first.claims.trimClaims(100)).toBe(1);
});

it('remembers the latest 64 who ran under a key: their answers count, those of earlier ones do not', async () => {
  const names = Array.from({ length: 70 }, (_, index) => `g${index}`);
  for (const name of names) {
    expect(await claim(name)).toEqual({ kind: 'claimed' });
    fixture.clock.advance(LEASE_MS);
  }
  const [forgotten = '', remembered = ''] = names.slice(70 - 64 - 1);
  expect(await settle([forgotten, 'too early'])).toEqual([10]);
  expect(await claim('one more')).toEqual({ kind: 'claimed' });
  // Who comes next pushes out the oldest.
  expect(await settle([remembered, 'too early too'])).toEqual([10]);
  expect(await claim('g-next')).toEqual({ kind: 'in_flight' });
  expect(await settle([names[7] as string, 'answer'])).toEqual([10]);
  expect(await answered('g-last')).toBe('answer');
});
