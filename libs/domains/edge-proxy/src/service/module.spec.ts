import { BODY, KEY, rawRequest, startEdge, until } from '../testing/start-edge';
import { aborted, finished, frames } from '../testing/stub-router';

it('is ready when it listens and has a model catalogue, until it stops', async () => {
  const edge = await startEdge();
  expect(edge.module.isReady()).toBe(true);
  await edge.stop();
  expect(edge.module.isReady()).toBe(false);
  await edge.stop();
});

it('returns no_capacity without a model catalogue, not model_not_found', async () => {
  const edge = await startEdge({ models: [], settings: { catalogueWaitMs: 10 }, noCatalogue: true });
  expect(edge.module.isReady()).toBe(false);
  for (const response of [await edge.chat(), await edge.get('/v1/models')]) {
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('10');
  }
  await edge.stop();
});

it('lets running streams finish on stop, and accepts no new connection', async () => {
  const edge = await startEdge();
  let release = () => {};
  const pause = new Promise<void>((resolve) => (release = resolve));
  edge.router.script = async function* (request) {
    yield frames(request, 'Hel', 3);
    await pause;
    yield frames(request, 'lo', 7);
    yield finished(request);
  };
  const response = await edge.chat({ ...BODY, stream: true });
  const stopped = edge.stop();
  await expect(rawRequest(edge.port, { path: '/v1/models' })).rejects.toThrow('ECONNREFUSED');
  release();
  expect(await response.text()).toMatch(/"lo".*\n\ndata: \[DONE\]\n\n$/);
  await stopped;
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
});

it('cancels requests that outlast the grace period on stop, and releases their reservations', async () => {
  const edge = await startEdge({ settings: { stopGraceMs: 50 } });
  edge.router.script = async function* (request, signal) {
    yield frames(request, 'Hel', 3);
    await aborted(signal);
  };
  const response = await edge.chat({ ...BODY, stream: true });
  const text = response.text().catch(() => 'disconnected');
  await edge.stop();
  expect(await text).toBe('disconnected');
  expect(edge.router.cancelled).toBe(1);
  expect(edge.limiter.outstanding.size + edge.ledger.held.size).toBe(0);
});

it('counts requests by route, status and code', async () => {
  const edge = await startEdge();
  await (await edge.chat()).text();
  await (await edge.get('/v1/models', {})).text();
  await (await edge.get('/nowhere')).text();
  await until(() => edge.logLines.filter((line) => line.includes('"msg":"request"')).length === 3);
  const text = await edge.metrics.metrics();
  expect(text).toContain('requests_total{route="chat_completions",status="200",code="ok"} 1');
  expect(text).toContain('gateway_edge_proxy_admission_seconds_count 1');
  expect(text).toContain('requests_total{route="models",status="401",code="invalid_api_key"} 1');
  expect(text).toContain('requests_total{route="unknown",status="404",code="route_not_found"} 1');
  expect(text).toContain('gateway_edge_proxy_tokens_total{kind="prompt"} 11');
  expect(text).toContain('gateway_edge_proxy_requests_in_flight 0');
  const line = JSON.parse(
    edge.logLines.find((entry) => entry.includes('chat_completions')) ?? '{}',
  ) as object;
  expect(line).toMatchObject({ organizationId: 'org_1', keyId: 'key_1', modelId: 'acme/m-1', status: 200 });
  expect(JSON.stringify(line)).not.toContain(KEY);
  await edge.stop();
});
