import { seededRandom } from '@gateway/test-support';
import { singleCall, withFault } from './generate-faults';
import type { Call, Operation, Step } from './history';

/** The number of their own random numbers; those of a generation have its index. */
const EXTENSIONS = 999;

/** Extends some holds after they were placed: in a step of its own, or while other calls run, and sometimes again. */
export function extendHolds(seed: number, steps: Step[]): void {
  const random = seededRandom(seed * 1_000 + EXTENSIONS);
  if (random.chance(0.4)) return;
  for (let count = random.integer(1, 4); count > 0; count -= 1) {
    const holding = steps.flatMap((step, index) =>
      (step.kind === 'calls' ? step.calls : []).flatMap(({ operation }) =>
        operation.kind === 'hold' ? [{ index, generations: operation.generations }] : [],
      ),
    );
    if (holding.length === 0) return;
    const { index, generations } = random.pick(holding);
    const operation: Operation = {
      kind: 'extend',
      generations: random.shuffle([...generations]).slice(0, random.integer(1, 2)),
      by: random.integer(1, 40),
    };
    const call: Call = { ledger: random.pick([1, 2]), operation };
    const place = random.chance(0.5) ? index + 1 : random.integer(index + 1, steps.length);
    const others = steps[place];
    if (random.chance(0.5) && others?.kind === 'calls' && others.calls.length < 3) {
      steps[place] = { kind: 'calls', calls: [...others.calls, call] };
      continue;
    }
    steps.splice(place, 0, { kind: 'calls', calls: random.chance(0.4) ? withFault(random, [call]) : [call] });
    if (random.chance(0.4))
      steps.splice(random.integer(place + 1, steps.length), 0, singleCall(random, operation));
  }
}
