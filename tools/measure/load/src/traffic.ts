import type { SeededRandom } from '@gateway/test-support';
import type { Attempt, Kind } from './attempts';
import type { ChatClient, Tenant } from './client';

export interface Traffic {
  readonly attempts: readonly Attempt[];
  /** Sends no more, and waits for what is under way. */
  stop(): Promise<void>;
}

export interface TrafficOptions {
  readonly client: ChatClient;
  readonly tenants: readonly Tenant[];
  readonly random: SeededRandom;
  /** Before the number of each request: its marker. */
  readonly name: string;
  /** Requests per second, whatever becomes of those before. */
  readonly rate: number;
}

const KINDS: readonly Kind[] = ['whole', 'whole', 'whole', 'stream', 'stream', 'idempotent', 'cancelled'];
const TICK_MS = 20;
/** Beyond it a machine that is too slow would only measure itself. */
const MAX_UNDER_WAY = 400;
const MIN_TOKENS = 5;
const MAX_TOKENS = 60;

/** A steady stream of requests of every kind from every tenant. */
export function startTraffic({ client, tenants, random, name, rate }: TrafficOptions): Traffic {
  const attempts: Attempt[] = [];
  const underWay = new Set<Promise<void>>();
  let count = 0;
  let due = 0;
  let lastMs = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    due = Math.min(due + ((now - lastMs) * rate) / 1_000, rate);
    lastMs = now;
    for (; due >= 1 && underWay.size < MAX_UNDER_WAY; due -= 1) sendOne();
  }, TICK_MS);

  function sendOne(): void {
    count += 1;
    const order = {
      marker: `${name}-${count}`,
      kind: random.pick(KINDS),
      tenant: random.pick(tenants),
      tokens: random.integer(MIN_TOKENS, MAX_TOKENS),
      chunks: random.integer(1, MIN_TOKENS),
    };
    const sending = client.send(order).then((attempt) => {
      attempts.push(attempt);
      underWay.delete(sending);
    });
    underWay.add(sending);
  }

  return {
    attempts,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
