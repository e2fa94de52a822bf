import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';
import type { Fault } from './history';

/** The process ended: whatever it was about to do it never will, and nobody hears what it did. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

/** One call with its fault, and how many statements it has sent. */
interface FaultyCall {
  readonly fault: Fault;
  statements: number;
  isDead: boolean;
  hasStruck: boolean;
}

const calls = new AsyncLocalStorage<FaultyCall>();

/** Runs work whose statements on pools of `breakable` suffer this fault. Answers also whether it struck. */
export async function withFault<Result>(
  fault: Fault | undefined,
  work: () => Promise<Result>,
): Promise<{ result: Result; hasStruck: boolean }> {
  if (!fault) return { result: await work(), hasStruck: false };
  const call: FaultyCall = { fault, statements: 0, isDead: false, hasStruck: false };
  const result = await calls.run(call, work);
  return { result, hasStruck: call.hasStruck };
}

/** What the driver says when a connection ends under a query. */
const lost = () => new Error('Connection terminated unexpectedly');

/** Makes a pool suffer the faults of the calls that use it. */
export function breakable(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (...parameters: unknown[]) => Promise<PoolClient>;
  const query = pool.query.bind(pool) as (...parameters: unknown[]) => unknown;
  const changed = pool as unknown as { connect: unknown; query: unknown };

  changed.connect = async (...parameters: unknown[]) => {
    const call = calls.getStore();
    // With a callback it is the pool itself that asks.
    if (!call || parameters.length > 0) return connect(...parameters);
    return faulty(await connect(), call);
  };
  changed.query = async (...parameters: unknown[]) => {
    const call = calls.getStore();
    if (!call) return query(...parameters);
    const client = faulty(await connect(), call);
    client.on('error', ignore);
    let failure: Error | undefined;
    try {
      return await (client.query as (...all: unknown[]) => Promise<unknown>)(...parameters);
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      // Only a connection that is still whole goes back; statements that failed are as good as whole ones here.
      client.off('error', ignore);
      client.release(failure);
    }
  };
  return pool;
}

function faulty(client: PoolClient, call: FaultyCall): PoolClient {
  const send = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>;
  const query = async (...parameters: unknown[]): Promise<unknown> => {
    if (call.isDead) throw new ProcessDied();
    call.statements += 1;
    const { kind, statement } = call.fault;
    if (call.hasStruck || call.statements !== statement) return send(...parameters);
    call.hasStruck = true;
    switch (kind) {
      case 'dies_before':
        return die(client, call);
      case 'dies_after':
        await send(...parameters);
        return die(client, call);
      case 'lost_answer':
        await send(...parameters);
        cut(client);
        throw lost();
      case 'cut': {
        const answer = send(...parameters);
        cut(client);
        return answer;
      }
    }
  };
  return new Proxy(client, {
    get(target, property) {
      if (property === 'query') return query;
      const value = Reflect.get(target, property) as unknown;
      return typeof value === 'function' ? (value as (...all: unknown[]) => unknown).bind(target) : value;
    },
  });
}

function ignore(): void {}

function die(client: PoolClient, call: FaultyCall): never {
  call.isDead = true;
  cut(client);
  throw new ProcessDied();
}

/** As when the process dies: the socket is gone, without goodbye. */
function cut(client: unknown): void {
  (client as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
