import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = path.resolve(__dirname, '../..');

const SECRETS = {
  databasePassword: 'pw-database-81',
  redisPassword: 'pw-redis-82',
  kafkaPassword: 'pw-kafka-83',
  kafkaUser: 'user-kafka-84',
  secretsKey: Buffer.from('a key of thirty-two bytes, as is').toString('base64'),
  olderSecretsKey: Buffer.from('another key of that very length!').toString('base64'),
  oidc: 'pw-oidc-85',
  mail: 'pw-mail-86',
  collector: 'pw-collector-87',
  provider: 'pw-provider-88',
  apiKey: 'sk-gw-planted89planted89',
  person: 'pw-person-90',
  prompt: 'the confidential zebra',
};

let folder: string;
let server: Server;
let admin: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-bundle-'));
  server = createServer(({ url }, response) => {
    if (url === '/readyz') return void response.writeHead(503).end('not ready\n');
    if (url !== '/metrics') return void response.end('ok\n');
    response.end('# HELP x y\ngateway_events_lag{topic="generation.finished"} 42\nother_total 1\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function lines(): string {
  const base = { level: 'error', time: '2026-11-22T10:00:00.000Z', name: 'edge-proxy' };
  const { prompt, apiKey, databasePassword, provider } = SECRETS;
  return [
    { ...base, msg: 'request', requestId: 'req_1', status: 503, code: 'no_capacity', body: prompt },
    {
      ...base,
      msg: `a call failed with ${apiKey} and Bearer ${provider}`,
      err: {
        type: 'Error',
        code: 'ECONNREFUSED',
        message: `${prompt} ${databasePassword}`,
        stack: `Error: ${prompt}\n    at connect (pool.js:1:2)`,
      },
    },
    { ...base, msg: 'cannot connect', target: `postgres://gateway:${databasePassword}@replica:5432/auth` },
  ]
    .map((line) => JSON.stringify(line))
    .concat(`no JSON: ${prompt}`)
    .join('\n');
}

/** Environment of a process with a secret in every setting that may contain one. */
const environment = () => ({
  LOG_LEVEL: 'info',
  GATEWAY_STATE_DIR: folder,
  GATEWAY_PUBLIC_URL: `https://someone:${SECRETS.person}@api.example.com/v1`,
  DATABASE_URL: `postgres://gateway:${SECRETS.databasePassword}@db:5432/auth`,
  REDIS_URL: `redis://:${SECRETS.redisPassword}@redis:6379`,
  KAFKA_USERNAME: SECRETS.kafkaUser,
  KAFKA_PASSWORD: SECRETS.kafkaPassword,
  GATEWAY_SECRETS_KEY: `${SECRETS.secretsKey},${SECRETS.olderSecretsKey}`,
  GATEWAY_OIDC_CLIENT_SECRET_FILE: path.join(folder, 'oidc'),
  GATEWAY_SMTP_URL: `smtps://gateway:${SECRETS.mail}@mail:465`,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRETS.collector}`,
  OPENAI_API_KEY: SECRETS.provider,
  UNKNOWN_VARIABLE: SECRETS.prompt,
});

async function run(args: readonly string[], env: Record<string, string>): Promise<string> {
  const output = path.join(folder, 'bundle.json');
  const command = path.join(root, 'tools/commands/support-bundle.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args, '--output', output], {
    env,
  });
  expect(stdout).toContain(output);
  return readFileSync(output, 'utf8');
}

async function makeBundle(): Promise<string> {
  writeFileSync(path.join(folder, 'edge.log'), lines());
  writeFileSync(path.join(folder, 'oidc'), `${SECRETS.oidc}\n`);
  const { apiKey, person } = SECRETS;
  writeFileSync(path.join(folder, 'dev.json'), JSON.stringify({ apiKey, adminPassword: person }));
  const args = ['--admin', admin, '--log', path.join(folder, 'edge.log')];
  return run(args, { PATH: process.env['PATH'] ?? '', ...environment() });
}

/** Fake kubectl with two pods: one runs the report of its image in a service's environment, the other fails. */
const KUBECTL = `#!${process.execPath}
const { execFileSync } = require('node:child_process');
const [, , command, pod] = process.argv.slice(2);
const fixture = require(${JSON.stringify('FOLDER/pods.json')});
if (command === 'get') console.log('pod/edge-1\\npod/failing-2');
else if (pod === 'failing-2') {
  console.error('container not found');
  process.exit(1);
} else if (command === 'logs') console.log(fixture.log);
else console.log(execFileSync('node', [fixture.program], { env: fixture.environment, encoding: 'utf8' }));
`;

async function makeBundleOfPods(): Promise<string> {
  const app = path.join(folder, 'app');
  rmSync(app, { recursive: true, force: true });
  mkdirSync(app);
  writeFileSync(path.join(app, 'package.json'), '{ "version": "1.2.3" }');
  const moduleUrl = pathToFileURL(path.join(root, 'tools/commands/lib/image-files.mjs')).href;
  const layOut = `(await import('${moduleUrl}')).layOutReport(...process.argv.slice(1));`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', layOut, app]);
  writeFileSync(path.join(folder, 'oidc'), `${SECRETS.oidc}\n`);
  writeFileSync(
    path.join(folder, 'pods.json'),
    JSON.stringify({
      program: path.join(app, 'report.mjs'),
      log: lines(),
      environment: {
        ...environment(),
        PATH: process.env['PATH'],
        GATEWAY_ADMIN_PORT: new URL(admin).port,
      },
    }),
  );
  writeFileSync(path.join(folder, 'kubectl'), KUBECTL.replace('FOLDER', folder), { mode: 0o755 });
  const args = ['--pods', 'app.kubernetes.io/instance=gateway', '--namespace', 'gateway'];
  return run(args, { PATH: `${folder}:${process.env['PATH']}` });
}

it.each([
  ['a local process', makeBundle],
  ['pods', makeBundleOfPods],
])('contains no secret from any source: %s', async (_, make) => {
  const bundle = await make();
  for (const [name, secret] of Object.entries(SECRETS)) {
    expect([name, bundle.includes(secret)]).toEqual([name, false]);
  }
});

it('contains versions, settings, health, consumer lag and log lines', async () => {
  const bundle = JSON.parse(await makeBundle()) as Record<string, unknown>;
  expect(bundle).toMatchObject({
    versions: { gateway: expect.any(String), node: process.version },
    settings: {
      LOG_LEVEL: 'info',
      DATABASE_URL: '[set]',
      KAFKA_PASSWORD: '[set]',
      GATEWAY_PUBLIC_URL: 'https://[redacted]@api.example.com/v1',
    },
    models_file: expect.stringMatching(/^[0-9a-f]{64}$/),
    processes: [
      {
        live: 200,
        ready: 503,
        lag: ['gateway_events_lag{topic="generation.finished"} 42'],
        metrics: ['gateway_events_lag{topic="generation.finished"} 42', 'other_total 1'],
      },
    ],
    logs: [
      {
        file: 'edge.log',
        left_out: 1,
        lines: [
          { msg: 'request', requestId: 'req_1', status: 503, code: 'no_capacity' },
          { err: { type: 'Error', code: 'ECONNREFUSED', at: ['at connect (pool.js:1:2)'] } },
          { msg: 'cannot connect', target: 'postgres://[redacted]@replica:5432/auth' },
        ],
      },
    ],
  });
});

it('contains the report of each pod, and the error of a pod whose report fails', async () => {
  const bundle = JSON.parse(await makeBundleOfPods()) as Record<string, unknown>;
  expect(bundle).toMatchObject({
    processes: [
      {
        pod: 'edge-1',
        version: '1.2.3',
        node: process.version,
        settings: {
          LOG_LEVEL: 'info',
          DATABASE_URL: '[set]',
          GATEWAY_PUBLIC_URL: 'https://[redacted]@api.example.com/v1',
        },
        live: 200,
        ready: 503,
        lag: ['gateway_events_lag{topic="generation.finished"} 42'],
      },
      { pod: 'failing-2', failed: 'container not found' },
    ],
    logs: [
      { file: 'edge-1', left_out: 1 },
      { file: 'failing-2', lines: [] },
    ],
  });
});
