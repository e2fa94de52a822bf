import type { KeyGrant } from '@gateway/contracts/auth';
import { KEY, startEdge, type TestEdge } from '../../testing/start-edge';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.stop());

it("returns the router's completion and leaves nothing reserved", async () => {
  const response = await edge.chat();
  const body = (await response.json()) as { id: string };
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
  expect(response.headers.get('x-generation-id')).toBe(body.id);
  expect(response.headers.get('openai-processing-ms')).toMatch(/^\d+$/);
  expect(response.headers.get('x-ratelimit-limit-requests')).toBe('100');
  expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('40000');
  expect(response.headers.get('x-ratelimit-reset-requests')).toBe('43s');
  expect(response.headers.get('x-ratelimit-reset-tokens')).toBe('6m0s');
  expect(response.headers.get('etag')).toBeNull();
  expect(response.headers.get('x-powered-by')).toBeNull();
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(edge.limiter.usedTokens).toEqual([18]);
  expect(edge.limiter.outstanding.size).toBe(0);
  expect(edge.ledger.held.size).toBe(0);
});

it('forwards a stream unchanged and ends it with [DONE]', async () => {
  const response = await edge.chat({
    model: 'acme/m-1',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
  });
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  expect(text).toMatch(/^data: \{.*"Hel".*\}\n\ndata: \{.*"lo".*\}\n\ndata: \[DONE\]\n\n$/);
  expect(edge.limiter.usedTokens).toEqual([18]);
});

it('counts tokens with the organization as the owner of the cache', async () => {
  await edge.chat();
  edge.keys.set('sk-gw-other', { ...(edge.keys.get(KEY) as KeyGrant), organizationId: 'org_2' });
  await edge.chat(undefined, { authorization: 'Bearer sk-gw-other' });
  expect(edge.countedFor.map((caller) => caller?.owner)).toEqual(['org_1', 'org_2']);
});

it('logs neither the key nor the prompt', async () => {
  await edge.chat({ model: 'acme/m-1', messages: [{ role: 'user', content: 'a secret prompt' }] });
  expect(edge.logLines.join('')).toContain('"route":"chat_completions"');
  expect(edge.logLines.join('')).not.toContain(KEY);
  expect(edge.logLines.join('')).not.toContain('a secret prompt');
});
