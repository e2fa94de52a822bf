import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { injectFaults, waitForOrphans, ProcessTerminated, withFault } from './faulty-pool';
import type { Fault } from './history';

let database: TestDatabase;
let relay: Relay;
let pool: Pool;
let watch: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  relay = await startRelay(new URL(database.url));
  const open = (url: string) =>
    createPool({ url, schema: 'public', applicationName: 'faulty', maxConnections: 1 });
  pool = injectFaults(open(relay.url));
  watch = open(database.url);
  await watch.query('create table written (what text)');
});

afterEach(async () => {
  await Promise.all([pool.end(), watch.end()]);
  relay.close();
  await database.drop();
});

const write = () => pool.query(`insert into written values ('x')`).then(() => 'done', nameOf);
const nameOf = (error: unknown) => (error instanceof ProcessTerminated ? 'terminated' : 'lost');
const countWritten = async () => (await watch.query('select from written')).rowCount;

it.each([
  ['lost_response', 'lost', 1],
  ['cut', 'lost', 1],
  ['terminated_before', 'terminated', 0],
  ['terminated_after', 'terminated', 1],
] as const)(
  '%s: the result is %s, and the statement is executed %i times once the backend has exited',
  async (kind, outcome, times) => {
    const fault: Fault = { kind, statement: 1 };
    const { result, hasFired, orphans } = await withFault(fault, write);
    expect([result, hasFired, orphans.length]).toEqual([outcome, true, 1]);
    await waitForOrphans(watch, orphans);
    expect(await countWritten()).toBe(times);
  },
);

it('waits for a statement that the server reads long after the connection was cut', async () => {
  await pool.query('select');
  relay.pause();
  const { orphans } = await withFault({ kind: 'cut', statement: 1 }, write);
  // Meanwhile the backend is idle, since the statement has not reached it.
  const late = delay(200).then(() => relay.resume());
  await waitForOrphans(watch, orphans);
  expect(await countWritten()).toBe(1);
  await late;
});

interface Relay {
  readonly url: string;
  /** Delays data and disconnects of clients until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

async function startRelay(target: URL): Promise<Relay> {
  const delayed: (() => void)[] = [];
  let isPaused = false;
  const forward = (act: () => void) => void (isPaused ? delayed.push(act) : act());
  const sockets: Socket[] = [];
  const server: Server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (data) => forward(() => upstream.write(data)));
    client.on('close', () => forward(() => upstream.end()));
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    pause: () => void (isPaused = true),
    resume() {
      isPaused = false;
      for (const act of delayed.splice(0)) act();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
