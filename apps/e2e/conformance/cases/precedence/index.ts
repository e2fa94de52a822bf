import assert from 'node:assert/strict';
import { errorTable } from '@gateway/errors';
import { body, casesOf, chat, type Deployment } from '../../framework';
import { canStandTogether, faults, nameOf, type Fault, type FaultContext } from './faults';
import { createObserver, type Observation } from './observe';

const OBSERVED_AT_ONCE = 8;
const LOAD_REQUESTS_AT_ONCE = 8;

type Pair = readonly [earlier: Fault, later: Fault];

const pairs: readonly Pair[] = faults.flatMap((earlier, index) =>
  faults
    .slice(index + 1)
    .flatMap((later): Pair[] => (canStandTogether(earlier, later) ? [[earlier, later]] : [])),
);

/** The stages of a request, by the ranks of their faults. */
const stages = [
  { what: 'the route and the key', from: 1, to: 7 },
  { what: 'the body as it is read', from: 8, to: 13 },
  { what: 'the body as the organization and its key may send it', from: 14, to: 19 },
  { what: 'the body as the model takes it', from: 20, to: 24 },
  { what: 'the Idempotency-Key, limits and money', from: 24.5, to: 30 },
] as const;

export const precedenceCases = casesOf('10', [
  {
    line: 'each fault by itself is answered with its own code',
    needs: ['emulator'],
    async prove(deployment) {
      const observed = await observeAll(
        deployment,
        faults.map((fault) => [fault]),
      );
      assert.deepEqual(
        faults.flatMap((fault, index) => differences([fault], fault, observed[index])),
        [],
      );
    },
  },
  ...stages.map(({ what, from, to }) => ({
    line: `a fault of ${what} is answered before any later one, at rest and under load alike`,
    needs: ['emulator'] as const,
    async prove(deployment: Deployment) {
      const mine = pairs.filter(([{ rank }]) => rank >= from && rank <= to);
      assert.ok(mine.length > 0);
      const atRest = await observeAll(deployment, mine);
      const underLoad = await underLoadOf(deployment, () => observeAll(deployment, mine));
      const wrong = mine.flatMap((pair, index) => [
        ...differences(pair, pair[0], atRest[index]),
        ...differences(pair, pair[0], underLoad[index]),
        // Amounts and times that the later ones name may differ; what the body alone decides may not.
        ...(pair[0].rank < 25 && atRest[index]?.message !== underLoad[index]?.message
          ? [
              `${pair.map(nameOf).join(' + ')}: "${atRest[index]?.message}", then "${underLoad[index]?.message}"`,
            ]
          : []),
      ]);
      assert.deepEqual(wrong, []);
    },
  })),
]);

function differences(given: readonly Fault[], expected: Fault, observed: Observation | undefined): string[] {
  const status = errorTable[expected.code].httpStatus;
  const isExpected =
    observed?.code === expected.code &&
    observed.status === status &&
    (expected.param === undefined || observed.param === expected.param);
  return isExpected
    ? []
    : [`${given.map(nameOf).join(' + ')}: ${observed?.status} ${observed?.code} ${observed?.param ?? ''}`];
}

async function observeAll(
  deployment: Deployment,
  combinations: readonly (readonly Fault[])[],
): Promise<Observation[]> {
  const observer = createObserver(deployment, contextOf(deployment));
  const observed: Observation[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < combinations.length; index = next++) {
      observed[index] = await observer.observe(combinations[index] ?? []);
    }
  }
  try {
    await Promise.all(Array.from({ length: OBSERVED_AT_ONCE }, work));
  } finally {
    observer.close();
  }
  return observed;
}

function contextOf(deployment: Deployment): FaultContext {
  const bare = deployment.model([], ['tools', 'vision', 'json_mode', 'reasoning']);
  const other = deployment.models.find(({ id }) => id !== bare.id);
  assert.ok(other, 'a second model');
  return { bare, other };
}

/** Other requests run without a pause while `during` does. */
async function underLoadOf<Value>(deployment: Deployment, during: () => Promise<Value>): Promise<Value> {
  const { apiKey } = await deployment.tenant();
  let isOver = false;
  const load = Array.from({ length: LOAD_REQUESTS_AT_ONCE }, async () => {
    while (!isOver) await chat(deployment, body(deployment), { apiKey });
  });
  try {
    return await during();
  } finally {
    isOver = true;
    await Promise.all(load);
  }
}
