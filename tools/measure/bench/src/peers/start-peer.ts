import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@gateway/base';
import { descendantsOf } from '@gateway/dev-infra';
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

export type StartedPeer = Target | { readonly failureReason: string };

/** Installs and starts a peer; returns the reason if it does not start or its first responses are incorrect. */
export async function startPeer(
  processes: Processes,
  peer: Peer,
  { cacheFolder, upstreamPort }: PeerOptions,
): Promise<StartedPeer> {
  const installed = await installPeer(peer, cacheFolder);
  if ('failureReason' in installed) return installed;
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
      waitForCorrectResponses(child, destination),
      READY_TIMEOUT_MS,
      `the first correct response of ${peer.title}`,
    );
  } catch (error) {
    await processes.stop(child);
    return { failureReason: reasonOf(error) };
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

/** Waits until it accepts requests, then checks a non-streaming response and a stream. */
async function waitForCorrectResponses(child: Child, destination: Destination): Promise<void> {
  for (;;) {
    if (child.process.exitCode !== null)
      throw new Error(`it exited with code ${child.process.exitCode}\n${child.output()}`);
    const isListening = await fetch(`http://127.0.0.1:${destination.port}/`).then(
      async (response) => (await response.arrayBuffer(), true),
      () => false,
    );
    if (isListening) break;
    await sleep(POLL_MS);
  }
  for (const kind of ['non-streaming', 'stream'] as const) {
    const once = { connections: 1, warmUpMs: 0, windowMs: 1, tally: newTally(), chunks: STREAM_CHUNKS };
    await runLoad({ ...once, destination, kind, body: requestBody(kind) });
  }
}

/** A peer cannot choose a free port itself. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const reserved = await listen(createServer(), () => undefined);
  await reserved.close();
  return reserved.port;
}
