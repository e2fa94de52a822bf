import type { GatewayProcess, SeededRandom } from '@gateway/test-support';
import { ask, type Outcome, type Question } from './ask';

/** Many requests at once, of every kind: streamed or not, with an Idempotency-Key or not, quick and slow. */
export interface Storm {
  /** Those that were answered to the end so far. */
  finishedCount(): number;
  /** Resolves when each has an outcome. */
  readonly outcomes: Promise<readonly Answered[]>;
}

export interface Answered {
  readonly question: Question;
  readonly outcome: Outcome;
}

export function startStorm(
  gateway: GatewayProcess,
  random: SeededRandom,
  { requests, name }: { readonly requests: number; readonly name: string },
): Storm {
  let finishedCount = 0;
  const questions = Array.from({ length: requests }, (_, index): Question => {
    const stream = random.chance(0.5);
    return {
      prompt: `[[tokens:${random.integer(1, 40)}]] ${pace(random)} ${name}, question ${index}`,
      stream,
      ...(random.chance(0.5) ? { idempotencyKey: `${name}-${index}` } : {}),
    };
  });
  const outcomes = Promise.all(
    questions.map(async (question) => {
      const outcome = await ask(gateway, question);
      if (outcome.kind === 'finished') finishedCount += 1;
      return { question, outcome };
    }),
  );
  return { finishedCount: () => finishedCount, outcomes };
}

/** Some answers come at once, some late, some drop by drop; together they take about a second. */
function pace(random: SeededRandom): string {
  return random.pick(['', `[[delay:${random.integer(1, 900)}]]`, `[[rate:${random.integer(30, 200)}]]`]);
}
