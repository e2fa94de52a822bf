import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import {
  createDashboardApi,
  type DashboardApi,
  type DashboardApiPorts,
  type PublicDocuments,
} from '../../index';

describe('the documentation of the public API', () => {
  const files = {
    'openapi.json': '{"openapi":"3.1.0"}',
    'swagger-ui-bundle.js': 'const SwaggerUIBundle = () => {};',
    'swagger-ui.css': 'p{color:blue}',
    'secret.txt': 'must not be served',
  };
  let folder: string;
  let api: DashboardApi;
  let withoutDocuments: DashboardApi;

  async function get(path: string, from = api) {
    const response = await fetch(`http://127.0.0.1:${from.port()}${path}`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async function startApi(documents?: PublicDocuments): Promise<DashboardApi> {
    const started = createDashboardApi({
      ...({} as DashboardApiPorts),
      clock: systemClock,
      newId,
      log: createSilentLogger(),
      metrics: createMetrics({ processMetrics: false }),
      ...(documents ? { documents } : {}),
      settings: { host: '127.0.0.1', port: 0 },
    });
    await started.start();
    return started;
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'documents-'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    api = await startApi({ folder });
    withoutDocuments = await startApi();
  });
  afterAll(async () => {
    await api.stop();
    await withoutDocuments.stop();
    await rm(folder, { recursive: true });
  });

  it.each([
    ['/openapi.json', 'openapi.json', /^application\/json/],
    ['/docs/swagger-ui-bundle.js', 'swagger-ui-bundle.js', /^(text|application)\/javascript/],
    ['/docs/swagger-ui.css', 'swagger-ui.css', /^text\/css/],
  ] as const)('serves %s without a session, and with nosniff', async (path, name, type) => {
    const response = await get(path);
    expect([response.status, response.text]).toEqual([200, files[name]]);
    expect(response.headers.get('content-type')).toMatch(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('allows the viewer only files of this port, and nothing inline', async () => {
    const page = await get('/docs');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.text).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/);
    const loaded = [...page.text.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, url]) => url);
    for (const url of loaded.filter((one) => one !== 'data:,')) {
      expect([url, (await get(url ?? '')).status]).toEqual([url, 200]);
    }
    expect(page.text).toMatch(/<noscript>.*href="\/openapi.json"/);
  });

  it('links to the documents from the start page, and serves no other file', async () => {
    const start = await get('/');
    for (const link of ['href="/docs"', 'href="/openapi.json"']) expect(start.text).toContain(link);
    for (const path of [
      '/docs/',
      '/docs/plain',
      '/v1/openapi.json',
      '/api/openapi.json',
      '/docs/secret.txt',
      '/secret.txt',
    ]) {
      expect([path, (await get(path)).status]).not.toEqual([path, 200]);
    }
    expect((await get('/openapi.json', withoutDocuments)).status).toBe(404);
  });
});
