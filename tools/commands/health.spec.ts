import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const moduleUrl = pathToFileURL(path.join(__dirname, 'lib/image-files.mjs')).href;
const LAY_OUT = `(await import('${moduleUrl}')).layOutHealthCheck(...process.argv.slice(1));`;

async function exitCodeOf(args: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [unknown];
  return code;
}

describe('the health check of an image', () => {
  let app: string;
  let server: http.Server;
  let requestedPaths: string[];

  beforeEach(async () => {
    app = mkdtempSync(path.join(os.tmpdir(), 'health-'));
    requestedPaths = [];
    server = http.createServer(({ url = '' }, response) => {
      requestedPaths.push(url);
      response.writeHead(url === '/livez' ? 200 : 503).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    server.close();
    rmSync(app, { recursive: true, force: true });
  });

  const layOut = (program: string) => exitCodeOf(['--input-type=module', '--eval', LAY_OUT, program, app]);
  const check = (probePath: string) =>
    exitCodeOf([path.join(app, 'health.mjs'), probePath], {
      GATEWAY_ADMIN_PORT: String((server.address() as AddressInfo).port),
    });

  it('exits with the result of the requested probe on the admin port', async () => {
    expect(await layOut('auth')).toBe(0);
    expect([await check('/livez'), await check('/readyz')]).toEqual([0, 1]);
    expect(requestedPaths).toEqual(['/livez', '/readyz']);
  });

  it('requests the configured URL of a program that has no admin port', async () => {
    expect(await layOut('model-emulator')).toBe(0);
    expect(JSON.parse(readFileSync(path.join(app, 'health.json'), 'utf8'))).toEqual({
      url: 'http://127.0.0.1:8090/v1/models',
    });
    await check('/livez');
    expect(requestedPaths).toEqual([]);
  });
});
