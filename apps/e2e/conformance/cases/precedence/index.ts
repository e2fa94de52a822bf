import assert from 'node:assert/strict';
import { errorTable } from '@gateway/errors';
import { body, casesOf, chat, type Deployment } from '../../framework';
import { canCombine, violations, nameOf, type Violation, type ViolationContext } from './violations';
import { createObserver, type Observation, type Observer } from './observe';

const CONCURRENT_OBSERVATIONS = 8;
const CONCURRENT_LOAD_REQUESTS = 8;

type Pair = readonly [earlier: Violation, later: Violation];

const pairs: readonly Pair[] = violations.flatMap((earlier, index) =>
  violations
    .slice(index + 1)
    .flatMap((later): Pair[] => (canCombine(earlier, later) ? [[earlier, later]] : [])),
);

/** The stages of a request, by the ranks of their violations. */
const stages = [
  { stage: 'route and key', from: 1, to: 7 },
  { stage: 'parsing and validating the body', from: 8, to: 13 },
  { stage: 'permissions of the organization and the key', from: 14, to: 19 },
  { stage: 'capabilities of the model', from: 20, to: 24 },
  { stage: 'Idempotency-Key, limits and credit', from: 24.5, to: 30 },
] as const;

export const precedenceCases = casesOf('10', [
  {
    title: 'each error condition on its own returns its error code',
    needs: ['emulator'],
    async verify(deployment) {
      const observed = await observeAll(
        deployment,
        violations.map((violation) => [violation]),
      );
      assert.deepEqual(
        violations.flatMap((violation, index) => differences([violation], violation, observed[index])),
        [],
      );
    },
  },
  ...stages.map(({ stage, from, to }) => ({
    title: `errors of the stage "${stage}" are returned before any later ones, with and without load`,
    needs: ['emulator'] as const,
    async verify(deployment: Deployment) {
      const stagePairs = pairs.filter(([{ rank }]) => rank >= from && rank <= to);
      assert.ok(stagePairs.length > 0);
      const withoutLoad = await observeAll(deployment, stagePairs);
      const loaded = await underLoad(deployment, () => observeAll(deployment, stagePairs));
      const wrong = stagePairs.flatMap((pair, index) => [
        ...differences(pair, pair[0], withoutLoad[index]),
        ...differences(pair, pair[0], loaded[index]),
        // Messages of later errors contain amounts and times, which may differ.
        ...(pair[0].rank < 25 && withoutLoad[index]?.message !== loaded[index]?.message
          ? [
              `${pair.map(nameOf).join(' + ')}: "${withoutLoad[index]?.message}", then "${loaded[index]?.message}"`,
            ]
          : []),
      ]);
      assert.deepEqual(wrong, []);
    },
  })),
]);

function differences(
  given: readonly Violation[],
  expected: Violation,
  observed: Observation | undefined,
): string[] {
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
  combinations: readonly (readonly Violation[])[],
): Promise<Observation[]> {
  const observer = observerOf(deployment);
  const observed: Observation[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < combinations.length; index = next++) {
      observed[index] = await observer.observe(combinations[index] ?? []);
    }
  }
  try {
    await Promise.all(Array.from({ length: CONCURRENT_OBSERVATIONS }, work));
  } finally {
    observer.endRunning();
  }
  return observed;
}

const observers = new WeakMap<Deployment, Observer>();

/** All cases share one, because preparing tenants takes most of the time. Refused requests do not change them. */
function observerOf(deployment: Deployment): Observer {
  const existing = observers.get(deployment);
  if (existing) return existing;
  const observer = createObserver(deployment, contextOf(deployment));
  observers.set(deployment, observer);
  return observer;
}

function contextOf(deployment: Deployment): ViolationContext {
  const bare = deployment.model([], ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning']);
  const other = deployment.models.find(({ id }) => id !== bare.id);
  assert.ok(other, 'a second model');
  return { bare, other };
}

/** Runs `during` under continuous load from other requests. */
async function underLoad<Value>(deployment: Deployment, during: () => Promise<Value>): Promise<Value> {
  const { apiKey } = await deployment.tenant();
  let isDone = false;
  const load = Array.from({ length: CONCURRENT_LOAD_REQUESTS }, async () => {
    while (!isDone) await chat(deployment, body(deployment), { apiKey });
  });
  try {
    return await during();
  } finally {
    isDone = true;
    await Promise.all(load);
  }
}
