import type { SeededRandom } from '@gateway/test-support';
import type { Attempt, Kind } from './attempts';
import type { ChatClient, Tenant } from './client';

export interface Traffic {
  readonly attempts: readonly Attempt[];
  /** Stops sending and waits for requests in flight. */
  stop(): Promise<void>;
}

export interface TrafficOptions {
  readonly client: ChatClient;
  readonly tenants: readonly Tenant[];
  readonly random: SeededRandom;
  /** Prefix of each request's marker. */
  readonly name: string;
  /** Requests per second, regardless of pending responses (open loop). */
  readonly rate: number;
  /** The budget of runs, to which a third of the requests belong; absent: none does. */
  readonly runBudgetUsd?: string;
}

const KINDS: readonly Kind[] = [
  'non-streaming',
  'non-streaming',
  'non-streaming',
  'stream',
  'stream',
  'idempotent',
  'cancelled',
];
const TICK_MS = 20;
/** On a slow machine, more concurrent requests would only measure the machine. */
const MAX_IN_FLIGHT = 400;
const MIN_TOKENS = 5;
const MAX_TOKENS = 60;
/** After this many requests, a new run starts. */
const REQUESTS_PER_RUN = 100;

/** Sends requests of every kind from every tenant at a constant rate. */
export function startTraffic({ client, tenants, random, name, rate, runBudgetUsd }: TrafficOptions): Traffic {
  const attempts: Attempt[] = [];
  const inFlight = new Set<Promise<void>>();
  let count = 0;
  let due = 0;
  let lastMs = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    due = Math.min(due + ((now - lastMs) * rate) / 1_000, rate);
    lastMs = now;
    for (; due >= 1 && inFlight.size < MAX_IN_FLIGHT; due -= 1) sendOne();
  }, TICK_MS);

  function sendOne(): void {
    count += 1;
    const chat = {
      marker: `${name}-${count}`,
      kind: random.pick(KINDS),
      tenant: random.pick(tenants),
      tokens: random.integer(MIN_TOKENS, MAX_TOKENS),
      chunks: random.integer(1, MIN_TOKENS),
      run: runOf(count),
    };
    const sending = client.send(chat).then((attempt) => {
      attempts.push(attempt);
      inFlight.delete(sending);
    });
    inFlight.add(sending);
  }

  function runOf(request: number) {
    if (runBudgetUsd === undefined || request % 3 > 0) return undefined;
    return { id: `${name}-${Math.floor(request / REQUESTS_PER_RUN)}`, budgetUsd: runBudgetUsd };
  }

  return {
    attempts,
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
    },
  };
}
