import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type RunningGateway } from './gateway';
import { hostileBodies, type HostileBody } from './hostile-bodies';
import { type Processes, withTimeout } from './processes';

const ROUNDS = 5;
/** For what a body leaves behind to be collected and settled. */
const PAUSE_MS = 200;
const PROBE_TIMEOUT_MS = 30_000;
const LIMIT_MS = 50;

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
  /** From sending to the whole answer; the median. */
  readonly answerMs: number;
}

/** Loaded into the gateway's process before it: tells the longest delay of its event loop since the last time. */
const PROBE = `
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
// The gateway's threads load it too.
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('message', () => {
    process.send({ maxMs: delay.count === 0 ? 0 : delay.max / 1e6 });
    delay.reset();
  });
  process.channel.unref();
}
`;

/** Sends bodies that are much work to a gateway of its own, and tells how long its event loop stood still. */
export async function measureBodies(
  processes: Processes,
  say: (text: string) => void,
): Promise<readonly BodyRow[]> {
  const upstream = await processes.startRole('others', 'upstream');
  const probe = `data:text/javascript,${encodeURIComponent(PROBE)}`;
  // Not pinned: threads are of no use on one core.
  const gateway = await startGateway(processes, undefined, upstream.port, {
    nodeOptions: ['--import', probe],
  });
  const rows: BodyRow[] = [];
  for (const hostile of hostileBodies) {
    say(`Measuring: ${hostile.name}`);
    rows.push(await measureBody(gateway, hostile));
  }
  return rows;
}

async function measureBody(gateway: RunningGateway, hostile: HostileBody): Promise<BodyRow> {
  const bytes = hostile.make();
  const sent: Sent[] = [];
  const blocks: number[] = [];
  // The first is for the code to be compiled.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await sleep(PAUSE_MS);
    await longestDelay(gateway);
    const answer = await send(gateway, hostile, bytes);
    const blockMs = await longestDelay(gateway);
    if (round === 0) continue;
    sent.push(answer);
    blocks.push(blockMs);
  }
  return {
    body: hostile.name,
    bytesSent: bytes.length,
    status: sent[0]?.status ?? 0,
    code: sent[0]?.code ?? '',
    blockMs: median(blocks),
    longestBlockMs: Math.max(...blocks),
    answerMs: median(sent.map(({ ms }) => ms)),
  };
}

function longestDelay({ child }: RunningGateway): Promise<number> {
  const answer = new Promise<number>((resolve) => {
    child.process.once('message', (message) => resolve((message as { maxMs: number }).maxMs));
  });
  child.process.send('how long?');
  return withTimeout('the gateway did not tell its delay', PROBE_TIMEOUT_MS, answer);
}

interface Sent {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

async function send({ destination }: RunningGateway, hostile: HostileBody, body: Buffer): Promise<Sent> {
  const start = performance.now();
  const response = await fetch(`http://127.0.0.1:${destination.port}${destination.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${destination.apiKey}`,
      'content-type': 'application/json',
      ...(hostile.gzip ? { 'content-encoding': 'gzip' } : {}),
      ...(hostile.idempotencyKey ? { 'idempotency-key': randomUUID() } : {}),
    },
    body,
  });
  const answer = (await response.json()) as { readonly error?: { readonly code: string } };
  return { status: response.status, code: answer.error?.code ?? 'ok', ms: performance.now() - start };
}

export function renderBodies(rows: readonly BodyRow[]): string {
  const lines = rows.map(
    ({ body, bytesSent, status, code, blockMs, longestBlockMs, answerMs }) =>
      `${body.padEnd(30)} ${bytesSent.toLocaleString('en').padStart(11)}  ${`${status} ${code}`.padEnd(27)} ${[blockMs, longestBlockMs, answerMs].map((ms) => ms.toFixed(1).padStart(9)).join(' ')}`,
  );
  const longest = Math.max(...rows.map(({ blockMs }) => blockMs));
  return [
    `${'body'.padEnd(30)} ${'bytes sent'.padStart(11)}  ${'answer'.padEnd(27)} ${'block ms'.padStart(9)} ${'worst ms'.padStart(9)} ${'answer ms'.padStart(9)}`,
    ...lines,
    `${longest <= LIMIT_MS ? '✓' : '✗'} longest block of the event loop (median of ${ROUNDS} rounds): ${longest.toFixed(1)} ms, of at most ${LIMIT_MS} ms`,
    '',
  ].join('\n');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
