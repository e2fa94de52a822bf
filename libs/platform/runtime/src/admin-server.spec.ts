import { Counter } from 'prom-client';
import { createAdminServer } from './admin-server';
import { createSilentLogger } from './logger';
import { createMetrics } from './metrics';

describe('the admin server', () => {
  let ready = true;
  const metrics = createMetrics({ labels: { process: 'test' } });
  const server = createAdminServer({
    host: '127.0.0.1',
    port: 0,
    metrics,
    ready: () => ready,
    log: createSilentLogger(),
  });
  let base = '';

  beforeAll(async () => {
    base = `http://127.0.0.1:${(await server.start()).port}`;
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    ready = true;
  });

  const statusOf = async (path: string, method = 'GET') => (await fetch(base + path, { method })).status;

  it('is alive whether or not the process is ready', async () => {
    expect(await statusOf('/livez')).toBe(200);
    ready = false;
    expect(await statusOf('/livez')).toBe(200);
  });

  it('reports whether the process is ready', async () => {
    expect(await statusOf('/readyz')).toBe(200);
    ready = false;
    expect(await statusOf('/readyz')).toBe(503);
  });

  it('serves metrics with the labels of the process, including process metrics', async () => {
    new Counter({ name: 'gateway_test_total', help: 'test', registers: [metrics] }).inc(3);
    const response = await fetch(`${base}/metrics`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toContain('gateway_test_total{process="test"} 3');
    expect(text).toContain('process_cpu_seconds_total');
  });

  it('serves nothing else', async () => {
    expect(await statusOf('/')).toBe(404);
    expect(await statusOf('/livez', 'POST')).toBe(405);
    expect(await statusOf('/livez?verbose', 'HEAD')).toBe(200);
  });

  it('responds with 500 when a collector throws, and keeps serving', async () => {
    new Counter({
      name: 'gateway_broken_total',
      help: 'test',
      registers: [metrics],
      collect: () => {
        throw new Error('no');
      },
    });
    expect(await statusOf('/metrics')).toBe(500);
    expect(await statusOf('/livez')).toBe(200);
  });

  it('rejects when its port is in use, and can be stopped twice', async () => {
    const { port } = new URL(base);
    const second = createAdminServer({
      host: '127.0.0.1',
      port: Number(port),
      metrics,
      ready: () => true,
      log: createSilentLogger(),
    });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
    await second.stop();
    await second.stop();
  });
});
