import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@gateway/cluster';
import { Client } from 'pg';
import { MODEL, type Laboratory } from '../laboratory';

export type Undo = () => Promise<void> | void;

/** Long and short enough for calls to be slow, not lost. */
const STUTTER_MS = 400;
const USUAL_FAULTS = { rate: 0.04, kinds: ['503'] };
const STREAMS = 20;

export function pause({ cluster }: Laboratory, ...services: ServiceName[]): Undo {
  const paused = cluster.replicas.filter(({ service }) => services.includes(service));
  for (const replica of paused) replica.pause();
  return () => paused.forEach((replica) => replica.resume());
}

export function cut({ cluster }: Laboratory, wires: string): Undo {
  const found = [...(cluster.wires?.all ?? [])].filter(([name]) => name.startsWith(wires));
  if (found.length === 0) throw new Error(`there is no wire ${wires}`);
  for (const [, wire] of found) wire.cut();
  return () => found.forEach(([, wire]) => wire.heal());
}

/** Stops and lets go again and again, as a starved machine does. */
export function stutter(laboratory: Laboratory, service: ServiceName): Undo {
  let stopped = false;
  const stuttering = (async () => {
    while (!stopped) {
      const resume = pause(laboratory, service);
      await delay(STUTTER_MS);
      await resume();
      await delay(STUTTER_MS / 2);
    }
  })();
  return async () => {
    stopped = true;
    await stuttering;
  };
}

/** Streams of some seconds, which nobody here reads to their end. */
export async function beginStreams({ cluster, tenants }: Laboratory): Promise<void> {
  await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const answer = await fetch(`${cluster.dev.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenants[0]?.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: MODEL,
          stream: true,
          messages: [{ role: 'user', content: '[[tokens:300]] [[rate:60]] [[fault:none]]' }],
        }),
      });
      void answer.text().catch(() => undefined);
    }),
  );
}

/** As a superuser, whom no limit of the services holds. */
async function openDatabase({ cluster }: Laboratory, database: 'billing_ledger' | 'usage'): Promise<Client> {
  const url = new URL(cluster.engines.postgres.adminUrl);
  url.pathname = `/${database}`;
  const client = new Client({ connectionString: url.toString() });
  await client.connect();
  return client;
}

export async function inDatabase<Result>(
  laboratory: Laboratory,
  database: 'billing_ledger' | 'usage',
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = await openDatabase(laboratory, database);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What a statement locks stays so until it is undone, whatever the services want. */
export async function lock(
  laboratory: Laboratory,
  database: 'billing_ledger' | 'usage',
  statement: string,
  values: unknown[],
): Promise<Undo> {
  const client = await openDatabase(laboratory, database);
  await client.query('begin');
  await client.query(statement, values);
  return () => client.end();
}

export const givesUp = (laboratory: Laboratory, rate: number, kinds: string[]): Undo => {
  laboratory.emulator.setFaults({ rate, kinds });
  return () => laboratory.emulator.setFaults(USUAL_FAULTS);
};
