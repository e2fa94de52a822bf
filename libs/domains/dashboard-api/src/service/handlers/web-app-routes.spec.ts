import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get as httpGet, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { createWebAppRoutes } from './web-app-routes';

const SCRIPT = 'console.log(1)';
const PAGE = '<!doctype html><title>app</title>';

describe('the web app', () => {
  let folder: string;
  let server: Server;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'gateway-web-app-'));
    mkdirSync(path.join(folder, 'assets'));
    mkdirSync(path.join(folder, '.vite'));
    writeFileSync(path.join(folder, 'index.html'), PAGE);
    writeFileSync(path.join(folder, 'theme.js'), 'theme');
    writeFileSync(path.join(folder, 'assets/index-abc.js'), SCRIPT);
    writeFileSync(path.join(folder, 'assets/index-abc.js.br'), brotliCompressSync(SCRIPT));
    writeFileSync(path.join(folder, 'assets/index-abc.js.gz'), gzipSync(SCRIPT));
    writeFileSync(path.join(folder, '.vite/manifest.json'), '{}');
    const app = express();
    app.use(createWebAppRoutes({ folder }, () => 'http://api.example.com'));
    app.use((_request, response) => void response.status(404).json({ error: {} }));
    server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  /** Not with fetch, which negotiates and decodes content encodings itself. */
  const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      httpGet({ host: '127.0.0.1', port, path: target, headers, method, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      }).once('error', reject);
    });

  it.each(['/', '/sign-in', '/o/org-1/keys', '/operator/catalogue?x=1'])(
    'serves its index page at %s, with a policy that allows nothing inline',
    async (target) => {
      const response = await get(target);
      expect([response.status, response.body.toString()]).toEqual([200, PAGE]);
      expect(response.headers['cache-control']).toBe('no-cache');
      const policy = String(response.headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("style-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("connect-src 'self' http://api.example.com;");
      expect(policy).not.toContain('unsafe');
    },
  );

  it.each([
    '/api',
    '/api/nothing',
    '/docs/nothing',
    '/openapi.json',
    '/assets/missing-123.js',
    '/favicon.ico',
  ])('does not serve its index page at %s', async (target) => expect((await get(target)).status).toBe(404));

  it.each([
    '/.vite/manifest.json',
    '/../package.json',
    '/assets/..%2findex.html',
    '/assets/index-abc.js.br',
    '/%00',
  ])('does not serve %s', async (target) =>
    expect([SCRIPT, '{}']).not.toContain((await get(target)).body.toString()),
  );

  it('marks files with a content hash as immutable, and others for revalidation', async () => {
    expect((await get('/assets/index-abc.js')).headers['cache-control']).toBe(
      'public, max-age=31536000, immutable',
    );
    expect((await get('/theme.js')).headers['cache-control']).toBe('no-cache');
  });

  it('serves the precompressed file that the client accepts', async () => {
    const compressed = await get('/assets/index-abc.js', { 'accept-encoding': 'gzip, deflate, br' });
    expect(compressed.headers['content-encoding']).toBe('br');
    expect(compressed.headers.vary).toBe('accept-encoding');
    expect(brotliDecompressSync(compressed.body).toString()).toBe(SCRIPT);
    const gzipped = await get('/assets/index-abc.js', { 'accept-encoding': 'gzip, br;q=0' });
    expect(gzipped.headers['content-encoding']).toBe('gzip');
    const plain = await get('/assets/index-abc.js');
    expect([plain.headers['content-encoding'], plain.body.toString()]).toEqual([undefined, SCRIPT]);
  });

  it('responds to HEAD without a body, and rejects other methods', async () => {
    const head = await get('/assets/index-abc.js', {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
      200,
      String(SCRIPT.length),
      0,
    ]);
    expect((await get('/', {}, 'POST')).status).toBe(404);
  });
});
