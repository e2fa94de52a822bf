import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@gateway/base';
import { descendantsOf } from '@gateway/test-support';
import { requestBody, STREAM_CHUNKS } from '../canned';
import { newTally, runLoad, type Destination } from '../load';
import type { Child, Processes } from '../processes';
import { listen } from '../roles/listen';
import type { Target } from '../targets';
import { installPeer, reasonOf } from './install-peer';
import { PEER_KEY, type Peer } from './peers';

const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 250;

export interface PeerOptions {
  readonly cacheFolder: string;
  readonly upstreamPort: number;
}

export type StartedPeer = Target | { readonly notMeasured: string };

/** Installs and starts a peer; one that does not start, or whose first answers are wrong, is not measured. */
export async function startPeer(
  processes: Processes,
  peer: Peer,
  { cacheFolder, upstreamPort }: PeerOptions,
): Promise<StartedPeer> {
  const installed = await installPeer(peer, cacheFolder);
  if ('notMeasured' in installed) return installed;
  const port = await freePort();
  const { command, args, env } = peer.program({ folder: installed.folder, port, upstreamPort });
  const child = processes.startProgram('measured', command, args, {
    cwd: installed.folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  });
  const destination: Destination = {
    port,
    path: '/v1/chat/completions',
    apiKey: PEER_KEY,
    headers: peer.headers(upstreamPort),
  };
  try {
    await withTimeout(
      firstAnswers(child, destination),
      READY_TIMEOUT_MS,
      `the first correct response of ${peer.title}`,
    );
  } catch (error) {
    await processes.stop(child);
    return { notMeasured: reasonOf(error) };
  }
  return {
    name: peer.name,
    destination,
    pid: child.pid,
    nodePids: () => [child.pid, ...descendantsOf(child.pid)],
    databasePids: () => [],
    tally: newTally(),
  };
}

/** Asks until it serves; then a whole answer and a stream have to be right. */
async function firstAnswers(child: Child, destination: Destination): Promise<void> {
  for (;;) {
    if (child.process.exitCode !== null)
      throw new Error(`it ended with ${child.process.exitCode}\n${child.output()}`);
    const isServing = await fetch(`http://127.0.0.1:${destination.port}/`).then(
      async (response) => (await response.arrayBuffer(), true),
      () => false,
    );
    if (isServing) break;
    await sleep(POLL_MS);
  }
  for (const kind of ['whole', 'stream'] as const) {
    const once = { connections: 1, warmUpMs: 0, windowMs: 1, tally: newTally(), chunks: STREAM_CHUNKS };
    await runLoad({ ...once, destination, kind, body: requestBody(kind) });
  }
}

/** Peers want to be told their port. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const held = await listen(createServer(), () => undefined);
  await held.close();
  return held.port;
}
