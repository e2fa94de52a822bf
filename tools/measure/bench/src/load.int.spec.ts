import { requestBody, slowPrompt, STREAM_CHUNKS, type Kind } from './canned';
import { newTally, runLoad, runOnce, type Destination } from './load';
import { startExpressProxy } from './roles/express-proxy';
import type { RunningRole } from './roles/listen';
import { startNodeProxy } from './roles/node-proxy';
import { startRelay } from './roles/relay';
import { startUpstream } from './roles/upstream';

const roles: Record<string, RunningRole> = {};

beforeAll(async () => {
  const upstream = await startUpstream();
  const origin = `http://127.0.0.1:${upstream.port}`;
  Object.assign(roles, {
    upstream,
    node: await startNodeProxy(origin),
    express: await startExpressProxy(origin),
    relay: await startRelay(origin),
  });
});

afterAll(async () => {
  for (const name of ['relay', 'express', 'node', 'upstream']) await roles[name]?.close();
});

function destination(name: string, path = '/v1/chat/completions'): Destination {
  return { port: roles[name]?.port ?? 0, path, apiKey: 'sk-test' };
}

const load = (name: string, kind: Kind) => ({
  destination: destination(name),
  kind,
  body: requestBody(kind),
  chunks: STREAM_CHUNKS,
  connections: 4,
  warmUpMs: 20,
  windowMs: 150,
  tally: newTally(),
});

describe.each(['upstream', 'node', 'express', 'relay'])('%s', (name) => {
  it.each(['whole', 'stream'] as const)('gives right answers under load (%s)', async (kind) => {
    const params = load(name, kind);
    const edges: string[] = [];
    const measured = await runLoad({ ...params, onWindow: (edge) => edges.push(edge) });
    // How many fall into the window is the machine's affair.
    expect(params.tally.answers).toBeGreaterThanOrEqual(params.connections);
    expect(measured.latenciesMs).toHaveLength(measured.requests);
    expect(measured.chunks).toBe(kind === 'stream' ? measured.requests * STREAM_CHUNKS : 0);
    expect(params.tally.answers).toBeGreaterThanOrEqual(measured.requests);
    expect(params.tally.priced).toBe(0);
    expect(edges).toEqual(['open', 'close']);
  });

  it('carries many slow streams to their end', async () => {
    const tally = newTally();
    const body = requestBody('stream', slowPrompt({ chunks: 3, everyTicks: 2 }));
    await runOnce({ destination: destination(name), body, chunks: 3, tally }, 50);
    expect(tally.answers).toBe(50);
  });
});

it('stops at the first wrong answer', async () => {
  const wrong = { ...load('node', 'stream'), chunks: STREAM_CHUNKS + 1 };
  await expect(runLoad(wrong)).rejects.toThrow('chunk 100');
  const refused = { ...load('express', 'whole'), destination: destination('express', '/nowhere') };
  await expect(runLoad(refused)).rejects.toThrow('not a 200');
});

it('fails when the target goes away', async () => {
  const upstream = await startUpstream();
  const proxy = await startNodeProxy(`http://127.0.0.1:${upstream.port}`);
  await upstream.close();
  const params = { ...load('node', 'whole'), destination: { ...destination('node'), port: proxy.port } };
  await expect(runLoad(params)).rejects.toThrow('closed');
  await proxy.close();
});
