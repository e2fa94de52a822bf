import type { GatewayProcess, SeededRandom } from '@gateway/test-support';
import { complete, type Outcome, type ChatRequest } from './chat-completion';

/**
 * Concurrent requests of every kind: streaming or not, with or without an Idempotency-Key or an end user, in a run or
 * not, fast and slow.
 */
export interface RequestBurst {
  /** Number of requests with a complete response so far. */
  finishedCount(): number;
  /** Resolves when every request has an outcome. */
  readonly outcomes: Promise<readonly CompletedRequest[]>;
}

export interface CompletedRequest {
  readonly request: ChatRequest;
  readonly outcome: Outcome;
}

export function startBurst(
  gateway: GatewayProcess,
  random: SeededRandom,
  { requests, name }: { readonly requests: number; readonly name: string },
): RequestBurst {
  let finishedCount = 0;
  const chatRequests = Array.from({ length: requests }, (_, index): ChatRequest => {
    const stream = random.chance(0.5);
    return {
      prompt: `[[tokens:${random.integer(1, 40)}]] ${pace(random)} ${name}, request ${index}`,
      stream,
      ...(index % 5 === 0 ? {} : { user: `user-${index % 5}` }),
      ...(random.chance(0.5) ? { idempotencyKey: `${name}-${index}` } : {}),
      ...(index % 2 === 0 ? { runId: name.replaceAll(' ', '-') } : {}),
    };
  });
  const outcomes = Promise.all(
    chatRequests.map(async (request) => {
      const outcome = await complete(gateway, request);
      if (outcome.kind === 'finished') finishedCount += 1;
      return { request, outcome };
    }),
  );
  return { finishedCount: () => finishedCount, outcomes };
}

/** Some responses are immediate, some delayed, some slow; together they take about a second. */
function pace(random: SeededRandom): string {
  return random.pick(['', `[[delay:${random.integer(1, 900)}]]`, `[[rate:${random.integer(30, 200)}]]`]);
}
