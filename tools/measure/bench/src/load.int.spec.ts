import { requestBody, slowPrompt, STREAM_CHUNKS, type Kind } from './canned';
import { newTally, runLoad, runOnce, type Destination } from './load';
import { startExpressProxy } from './roles/express-proxy';
import { startLeanProxy } from './roles/lean-proxy';
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
    lean: await startLeanProxy(origin),
    relay: await startRelay(origin),
  });
});

afterAll(async () => {
  for (const name of ['relay', 'lean', 'express', 'node', 'upstream']) await roles[name]?.close();
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

describe.each(['upstream', 'node', 'express', 'lean', 'relay'])('%s', (name) => {
  it.each(['non-streaming', 'stream'] as const)('returns correct responses under load (%s)', async (kind) => {
    const params = load(name, kind);
    const edges: string[] = [];
    const measured = await runLoad({ ...params, onWindow: (edge) => edges.push(edge) });
    // The number of responses inside the window depends on the machine.
    expect(params.tally.responses).toBeGreaterThanOrEqual(params.connections);
    expect(measured.latenciesMs).toHaveLength(measured.requests);
    expect(measured.chunks).toBe(kind === 'stream' ? measured.requests * STREAM_CHUNKS : 0);
    expect(params.tally.responses).toBeGreaterThanOrEqual(measured.requests);
    expect(params.tally.priced).toBe(0);
    expect(edges).toEqual(['open', 'close']);
  });

  it('completes many slow streams', async () => {
    const tally = newTally();
    const body = requestBody('stream', slowPrompt({ chunks: 3, everyTicks: 2 }));
    await runOnce({ destination: destination(name), body, chunks: 3, tally }, 50);
    expect(tally.responses).toBe(50);
  });
});

it('stops at the first incorrect response', async () => {
  const incorrect = { ...load('node', 'stream'), chunks: STREAM_CHUNKS + 1 };
  await expect(runLoad(incorrect)).rejects.toThrow('chunk 100');
  const refused = { ...load('express', 'non-streaming'), destination: destination('express', '/nowhere') };
  await expect(runLoad(refused)).rejects.toThrow('not a 200');
});

it('fails when the target closes its connections', async () => {
  const upstream = await startUpstream();
  const proxy = await startNodeProxy(`http://127.0.0.1:${upstream.port}`);
  await upstream.close();
  const params = {
    ...load('node', 'non-streaming'),
    destination: { ...destination('node'), port: proxy.port },
  };
  await expect(runLoad(params)).rejects.toThrow('closed');
  await proxy.close();
});
