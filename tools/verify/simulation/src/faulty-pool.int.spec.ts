import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { breakable, orphansGone, ProcessDied, withFault } from './faulty-pool';
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
  pool = breakable(open(relay.url));
  watch = open(database.url);
  await watch.query('create table written (what text)');
});

afterEach(async () => {
  await Promise.all([pool.end(), watch.end()]);
  relay.close();
  await database.drop();
});

const write = () => pool.query(`insert into written values ('x')`).then(() => 'answered', nameOf);
const nameOf = (error: unknown) => (error instanceof ProcessDied ? 'died' : 'lost');
const countWritten = async () => (await watch.query('select from written')).rowCount;

it.each([
  ['lost_answer', 'lost', 1],
  ['cut', 'lost', 1],
  ['dies_before', 'died', 0],
  ['dies_after', 'died', 1],
] as const)(
  '%s: the caller hears that it is %s, and it is done %i times once the orphan has gone',
  async (kind, heard, times) => {
    const fault: Fault = { kind, statement: 1 };
    const { result, hasStruck, orphans } = await withFault(fault, write);
    expect([result, hasStruck, orphans.length]).toEqual([heard, true, 1]);
    await orphansGone(watch, orphans);
    expect(await countWritten()).toBe(times);
  },
);

it('waits for a statement that the server reads long after the connection was cut', async () => {
  await pool.query('select');
  relay.holdBack();
  const { orphans } = await withFault({ kind: 'cut', statement: 1 }, write);
  // Nothing shows meanwhile but that the process is still there: it rests.
  const late = delay(200).then(() => relay.letPass());
  await orphansGone(watch, orphans);
  expect(await countWritten()).toBe(1);
  await late;
});

interface Relay {
  readonly url: string;
  /** Keeps what clients send from the server, and that they have gone. */
  holdBack(): void;
  letPass(): void;
  close(): void;
}

async function startRelay(target: URL): Promise<Relay> {
  const kept: (() => void)[] = [];
  let isHeldBack = false;
  const passOn = (act: () => void) => void (isHeldBack ? kept.push(act) : act());
  const sockets: Socket[] = [];
  const server: Server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (data) => passOn(() => upstream.write(data)));
    client.on('close', () => passOn(() => upstream.end()));
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    holdBack: () => void (isHeldBack = true),
    letPass() {
      isHeldBack = false;
      for (const act of kept.splice(0)) act();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
