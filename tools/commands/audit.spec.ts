import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const ADVISORY = {
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'A crafted path stops the server',
  severity: 'high',
  vulnerable_versions: '>=0.0.0',
};

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

/** Runs the command with a registry that has these advisories. */
async function auditAgainst(status: number, advisories: object) {
  const registry = http.createServer((request, response) => {
    request.resume();
    const isBulk = request.url === '/-/npm/v1/security/advisories/bulk';
    response.writeHead(isBulk ? status : 404, { 'content-type': 'application/json' });
    response.end(isBulk ? JSON.stringify(advisories) : '{}');
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const { port } = registry.address() as AddressInfo;
  try {
    return await run([path.join(__dirname, 'audit.mjs')], {
      pnpm_config_registry: `http://127.0.0.1:${port}/`,
      pnpm_config_fetch_retries: '0',
    });
  } finally {
    registry.close();
  }
}

describe('npm run audit', () => {
  it('fails and names an advisory against a production dependency', async () => {
    const { code, output } = await auditAgainst(200, { express: [ADVISORY] });
    expect(output).toContain('GHSA-aaaa-bbbb-cccc: express >=0.0.0 (high): A crafted path stops the server');
    expect(code).toBe(1);
  });

  it('succeeds without advisories', async () => {
    expect(await auditAgainst(200, {})).toMatchObject({ code: 0 });
  });

  it('exits differently for a registry without advisories and one that fails', async () => {
    expect(await auditAgainst(405, {})).toMatchObject({ code: 3 });
    expect(await auditAgainst(500, {})).toMatchObject({ code: 1 });
  });
});

describe('accepted advisories', () => {
  const moduleUrl = pathToFileURL(path.join(__dirname, 'lib/advisories.mjs')).href;
  const report = {
    advisories: { 1: { ...ADVISORY, module_name: 'express' } },
  };
  const ENTRY = {
    id: 'GHSA-aaaa-bbbb-cccc',
    package: 'express',
    reason: 'not reachable',
    until: '2026-12-31',
  };

  async function problems(accepted: readonly object[]): Promise<string[]> {
    const script = `const { auditProblems } = await import('${moduleUrl}');
      console.log(JSON.stringify(auditProblems(...process.argv.slice(1).map(JSON.parse))));`;
    const values = [report, accepted, '2026-11-25'].map((value) => JSON.stringify(value));
    const { output } = await run(['--input-type=module', '--eval', script, ...values]);
    return JSON.parse(output) as string[];
  }

  it('are no problem until their date', async () => {
    expect(await problems([ENTRY])).toEqual([]);
    expect(await problems([{ ...ENTRY, until: '2026-11-24' }])).toEqual([
      expect.stringContaining('until 2026-11-24'),
    ]);
  });

  it('hold for one package, and must still be reported', async () => {
    expect(await problems([{ ...ENTRY, package: 'other' }])).toHaveLength(1);
    expect(await problems([ENTRY, { ...ENTRY, id: 'GHSA-old' }])).toEqual([
      expect.stringContaining('no longer reported'),
    ]);
  });
});
