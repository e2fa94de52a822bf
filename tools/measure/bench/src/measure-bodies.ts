import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type RunningGateway } from './gateway';
import { type Processes, withTimeout } from './processes';

const ROUNDS = 5;
/** For what a body leaves behind to be collected and settled. */
const PAUSE_MS = 200;
const PROBE_TIMEOUT_MS = 30_000;
const LIMIT_MS = 50;

/** A body, and how it is sent. */
export interface BodyUnderTest {
  readonly name: string;
  /** Made when its turn comes: together they would fill the memory. */
  readonly make: (round: number) => Buffer;
  readonly gzip?: boolean;
  readonly idempotencyKey?: boolean;
}

export interface BodyRow {
  readonly body: string;
  readonly bytesSent: number;
  readonly status: number;
  readonly code: string;
  /**
   * The longest time that the gateway's event loop stood still meanwhile, in
   * milliseconds, so the longest that any other request waited for this one: the
   * median of the rounds, and the longest. Only the latter has the moments in it
   * when the machine gave the core to someone else.
   */
  readonly blockMs: number;
  readonly longestBlockMs: number;
  /**
   * The most that the event loop's thread worked between two looks a millisecond apart; the median.
   * Others who want the core do not add to it. NaN where the system does not tell.
   */
  readonly workMs: number;
  /** From sending to the whole answer; the median. */
  readonly answerMs: number;
}

/**
 * Loaded into the gateway's process before it: tells the longest delay of its event loop since the
 * last time, and the most CPU time that its thread took between two looks.
 */
const PROBE = `
import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
// The gateway's threads load it too.
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const line = Buffer.alloc(64);
  let file;
  try {
    file = openSync('/proc/self/task/' + process.pid + '/schedstat', 'r');
  } catch {}
  const cpuMs = () =>
    file === undefined ? NaN : Number(line.latin1Slice(0, readSync(file, line, 0, 64, 0)).split(' ')[0]) / 1e6;
  let lastMs = cpuMs();
  let mostMs = 0;
  setInterval(() => {
    const nowMs = cpuMs();
    mostMs = Math.max(mostMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1).unref();
  process.on('message', () => {
    process.send({ maxMs: delay.count === 0 ? 0 : delay.max / 1e6, workMs: mostMs });
    delay.reset();
    mostMs = 0;
  });
  process.channel.unref();
}
`;

/** Sends bodies to a gateway of its own, and tells how long its event loop stood still. */
export async function measureBodies(
  processes: Processes,
  bodies: readonly BodyUnderTest[],
  say: (text: string) => void,
): Promise<readonly BodyRow[]> {
  const upstream = await processes.startRole('others', 'upstream');
  const probe = `data:text/javascript,${encodeURIComponent(PROBE)}`;
  // Not pinned: threads are of no use on one core.
  const gateway = await startGateway(processes, undefined, upstream.port, {
    nodeOptions: ['--import', probe],
  });
  const rows: BodyRow[] = [];
  for (const body of bodies) {
    say(`Measuring: ${body.name}`);
    rows.push(await measureBody(gateway, body));
  }
  return rows;
}

async function measureBody(gateway: RunningGateway, body: BodyUnderTest): Promise<BodyRow> {
  const sent: Sent[] = [];
  const delays: Delay[] = [];
  let bytesSent = 0;
  // The first is for the code to be compiled.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bytes = body.make(round);
    bytesSent = bytes.length;
    await sleep(PAUSE_MS);
    await longestDelay(gateway);
    const answer = await send(gateway, body, bytes);
    const delay = await longestDelay(gateway);
    if (round === 0) continue;
    sent.push(answer);
    delays.push(delay);
  }
  return {
    body: body.name,
    bytesSent,
    status: sent[0]?.status ?? 0,
    code: sent[0]?.code ?? '',
    blockMs: median(delays.map(({ maxMs }) => maxMs)),
    longestBlockMs: Math.max(...delays.map(({ maxMs }) => maxMs)),
    workMs: median(delays.map(({ workMs }) => workMs)),
    answerMs: median(sent.map(({ ms }) => ms)),
  };
}

interface Delay {
  readonly maxMs: number;
  readonly workMs: number;
}

function longestDelay({ child }: RunningGateway): Promise<Delay> {
  const answer = new Promise<Delay>((resolve) => {
    child.process.once('message', (message) => resolve(message as Delay));
  });
  child.process.send('how long?');
  return withTimeout('the gateway did not tell its delay', PROBE_TIMEOUT_MS, answer);
}

interface Sent {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

async function send(
  { destination }: RunningGateway,
  { gzip, idempotencyKey }: BodyUnderTest,
  body: Buffer,
): Promise<Sent> {
  const start = performance.now();
  const response = await fetch(`http://127.0.0.1:${destination.port}${destination.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${destination.apiKey}`,
      'content-type': 'application/json',
      ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      ...(idempotencyKey ? { 'idempotency-key': randomUUID() } : {}),
    },
    body,
  });
  const answer = (await response.json()) as { readonly error?: { readonly code: string } };
  return { status: response.status, code: answer.error?.code ?? 'ok', ms: performance.now() - start };
}

export function renderBodies(rows: readonly BodyRow[]): string {
  const lines = rows.map(
    ({ body, bytesSent, status, code, blockMs, longestBlockMs, workMs, answerMs }) =>
      `${body.padEnd(30)} ${bytesSent.toLocaleString('en').padStart(11)}  ${`${status} ${code}`.padEnd(27)} ${[blockMs, longestBlockMs, workMs, answerMs].map((ms) => ms.toFixed(1).padStart(9)).join(' ')}`,
  );
  const longest = Math.max(...rows.map(({ blockMs }) => blockMs));
  return [
    `${'body'.padEnd(30)} ${'bytes sent'.padStart(11)}  ${'answer'.padEnd(27)} ${'block ms'.padStart(9)} ${'worst ms'.padStart(9)} ${'work ms'.padStart(9)} ${'answer ms'.padStart(9)}`,
    ...lines,
    `${longest <= LIMIT_MS ? '✓' : '✗'} longest block of the event loop (median of ${ROUNDS} rounds): ${longest.toFixed(1)} ms, of at most ${LIMIT_MS} ms`,
    '',
  ].join('\n');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
