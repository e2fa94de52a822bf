import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  createTestDatabase,
  eventually,
  signIn,
  startOtlpReceiver,
  type OtlpReceiver,
  type Tenant,
  type TestDatabase,
} from '@gateway/test-support';
import { Client } from 'pg';
import { filesWith } from './testing/files-with';
import { PASSWORD, personWith } from './testing/people';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

/** Texts that nothing else contains. */
const PROMPT_MARKER = 'zanzibar-quokka-7741';
const RESPONSE_MARKER = 'narwhal-ombudsman-3380';
const PROVIDER_KEY = 'wombat-turnstile-9926';
const SECRETS = [PROMPT_MARKER, RESPONSE_MARKER, PROVIDER_KEY];

const STATUSES = ['400', '401', '403', '404', '413', '422', '429', '500', '503'];
const STREAM_ENDINGS = ['error', 'cut', 'garbage', 'stalled'];
const MODES = ['ok', 'silent', 'paused', ...STATUSES, ...STREAM_ENDINGS];

const chunkOf = (delta: object, finishReason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;

interface EchoProvider {
  readonly server: Server;
  readonly url: string;
  /** Called when the mode `paused` has received a request. */
  onPaused: () => void;
  /** Sends its response. */
  resume: () => void;
}

/** A provider that repeats the request and its key in every error, and the prompt in every response. */
async function startEchoProvider(): Promise<EchoProvider> {
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const send = () => respond(request, body, response);
      if (modeOf(request) !== 'paused') return send();
      provider.resume = send;
      provider.onPaused();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, url, onPaused: () => undefined, resume: () => undefined };
}

const modeOf = (request: IncomingMessage) => request.url?.split('/')[1] ?? '';

async function read(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += String(part);
  return body;
}

function respond(request: IncomingMessage, body: string, response: ServerResponse): void {
  const mode = modeOf(request);
  const echo = `${request.headers.authorization} sent ${body} and got ${RESPONSE_MARKER}`;
  const error = { message: echo, type: echo, code: echo, param: echo };
  const json = (status: number, value: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (mode === 'silent') return;
  if (STATUSES.includes(mode)) return void json(Number(mode), { error, detail: echo });
  const content = `${RESPONSE_MARKER} ${PROMPT_MARKER}`;
  if (!body.includes('"stream":true')) {
    const message = { role: 'assistant', content };
    return void json(200, {
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 14, total_tokens: 34 },
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunkOf({ role: 'assistant', content }));
  if (mode === 'ok') response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`);
  if (mode === 'error') response.end(`data: ${JSON.stringify({ error })}\n\n`);
  if (mode === 'garbage') response.end(`event: ${echo}\ndata: {${echo}\n\n`);
  if (mode === 'cut') setTimeout(() => response.destroy(), 100);
}

const modelsFile = (url: string): string => `providers:
${MODES.map((mode) => `  - { name: p-${mode}, base_url: '${url}/${mode}/v1', api_key_env: PROVIDER_KEY }`).join('\n')}
models:
${[...MODES.map((mode) => [mode, [mode]] as const), ['failover', ['500', 'ok']] as const]
  .map(
    ([name, modes]) => `  - id: test/${name}
    targets: [${modes.map((mode) => `{ provider: p-${mode}, model: m }`).join(', ')}]
    context_window: 8192
    max_output_tokens: 1024
    prices: { input: '0.10', output: '0.40' }`,
  )
  .join('\n')}
`;

let receiver: OtlpReceiver;
let provider: EchoProvider;
let database: TestDatabase;
let sql: Client;
let folder: string;
let testEnv: TestEnv;
let tenant: Tenant;
/** Everything that clients received. */
const received: string[] = [];

beforeAll(async () => {
  [receiver, provider, database] = await Promise.all([
    startOtlpReceiver(),
    startEchoProvider(),
    createTestDatabase(),
  ]);
  sql = new Client({ connectionString: database.url });
  await sql.connect();
  folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-kept-texts-'));
  writeFileSync(path.join(folder, 'models.yaml'), modelsFile(provider.url));
  testEnv = await startTestEnv({
    modelsFile: path.join(folder, 'models.yaml'),
    env: {
      LOG_LEVEL: 'trace',
      DATABASE_URL: database.url,
      PROVIDER_KEY,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_BLRP_SCHEDULE_DELAY: '100',
    },
  });
  tenant = await testEnv.tenant({ credit: '10.00' });
  const { organizationId } = tenant;
  const { dashboardUrl } = testEnv.gateway;
  await personWith(testEnv.admin, dashboardUrl, {
    organizationId,
    email: 'owner@example.com',
    role: 'owner',
  });
  const owner = await signIn(dashboardUrl, 'owner@example.com', PASSWORD);
  const contentLog = `/api/organizations/${organizationId}/content-log`;
  await owner.call('PUT', contentLog, { enabled: true, retention_days: 7, erase: false });
});

afterAll(async () => {
  await testEnv?.stop();
  await sql?.end();
  await database?.drop();
  await receiver?.close();
  provider?.server.closeAllConnections();
  provider?.server.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

interface Chat {
  readonly model: string;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client disconnects after this time. */
  readonly abortMs?: number;
}

/** @returns undefined if the client disconnected. */
async function chat({ model, stream = false, headers = {}, abortMs }: Chat): Promise<Response | undefined> {
  const signal = abortMs === undefined ? null : AbortSignal.timeout(abortMs);
  try {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model: `test/${model}`,
        stream,
        max_tokens: 200,
        messages: [{ role: 'user', content: `Repeat: ${PROMPT_MARKER}` }],
        // No usage tag has this name.
        metadata: { note: PROMPT_MARKER },
      }),
      signal,
    });
    received.push(await response.text());
    return response;
  } catch (error) {
    if (abortMs === undefined) throw error;
    return undefined;
  }
}

/** Tables with a row that contains the text, in a text column or as bytes. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const { rows: tables } = await sql.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  expect(tables.length).toBeGreaterThan(30);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rowCount } = await sql.query(
      `select from ${name} as one where position($1 in one::text) > 0 or position($2 in one::text) > 0 limit 1`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (rowCount) found.push(name);
  }
  return found;
}

const keptFilesWith = (text: string) => filesWith(testEnv.gateway.stateDirectory, text);

async function supportBundle(): Promise<string> {
  const output = path.join(folder, 'support-bundle.json');
  const log = path.join(testEnv.gateway.stateDirectory, 'gateway.log');
  const root = path.resolve(__dirname, '../../..');
  const options = ['--admin', testEnv.gateway.adminUrl, '--log', log, '--output', output];
  const script = path.join(root, 'tools/commands/support-bundle.mjs');
  await promisify(execFile)(process.execPath, [script, ...options], { cwd: root });
  return readFileSync(output, 'utf8');
}

/** Where a text is kept or exported. */
async function placesWith(text: string): Promise<readonly string[]> {
  const metrics = await (await fetch(`${testEnv.gateway.adminUrl}/metrics`)).text();
  const texts: Readonly<Record<string, string>> = {
    metrics,
    'traces and exported logs': receiver.bytes().toString('latin1'),
    'support bundle': await supportBundle(),
  };
  const lines = testEnv.gateway.output().split('\n');
  return [
    // Without the rest of the line, one does not find what logs it.
    ...lines.filter((line) => line.includes(text)).slice(0, 3),
    ...Object.keys(texts).filter((place) => texts[place]?.includes(text)),
    ...(await tablesWith(text)),
    ...keptFilesWith(text),
  ];
}

const settledGenerations = async () => {
  const { rows } = await sql.query<{ count: string }>(
    `select count(*) from billing_ledger.closed_holds where state = 'settled'`,
  );
  return Number(rows[0]?.count);
};

it('keeps no prompt, no response and no key of a provider in clear, whatever happens to a request', async () => {
  for (const stream of [false, true]) {
    expect((await chat({ model: 'ok', stream }))?.status).toBe(200);
    expect((await chat({ model: 'failover', stream }))?.status).toBe(200);
    for (const model of STATUSES) expect((await chat({ model, stream }))?.ok).toBe(false);
    await chat({ model: 'silent', stream, abortMs: 300 });
  }
  for (const model of ['error', 'cut', 'garbage']) await chat({ model, stream: true });
  await chat({ model: 'stalled', stream: true, abortMs: 500 });

  const withKey = (key: string, more: object = {}) => ({ headers: { 'idempotency-key': key, ...more } });
  for (const [key, stream, more] of [
    ['response', false, {}],
    ['stream', true, {}],
    ['resumable', true, { 'last-event-id': '0' }],
  ] as const) {
    const first = await chat({ model: 'ok', stream, ...withKey(key, more) });
    const replay = await chat({ model: 'ok', stream, ...withKey(key, more) });
    expect([first?.status, replay?.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  }
  await chat({ model: '500', ...withKey('failed') });

  await eventually('contents are stored', async () => {
    const { rows } = await sql.query<{ count: string }>(
      'select count(*) from inference_router.generation_contents',
    );
    return Number(rows[0]?.count) >= 7 || undefined;
  });
  await eventually('generations are settled', async () => (await settledGenerations()) >= 7 || undefined);
  // The search finds what is kept, and clients received what it searches.
  const places = [
    'traces and exported logs',
    'billing_ledger.closed_holds',
    'inference_router.generation_contents',
  ];
  expect(await placesWith(tenant.organizationId)).toEqual(expect.arrayContaining(places));
  expect(received.join()).toContain(`${RESPONSE_MARKER} ${PROMPT_MARKER}`);
  expect(received.join()).not.toContain(PROVIDER_KEY);
  for (const secret of SECRETS) expect(await placesWith(secret)).toEqual([]);
});

it('keeps a response only encrypted in the spool, when neither event log nor ledger accepts it', async () => {
  const lock = new Client({ connectionString: database.url });
  await lock.connect();
  const arrived = new Promise<void>((resolve) => (provider.onPaused = resolve));
  const response = chat({ model: 'paused', headers: { 'idempotency-key': 'spooled' } });
  await arrived;
  await lock.query('begin');
  await lock.query(
    'lock table event_log.events, billing_ledger.open_holds, billing_ledger.idempotency_claims',
  );
  provider.resume();
  const record = await eventually(
    'the generation is spooled',
    () => Promise.resolve(keptFilesWith(tenant.organizationId).find((file) => file.endsWith('.finished'))),
    { timeoutMs: 30_000 },
  );
  expect(path.basename(record)).toMatch(/^gen-/);
  for (const secret of SECRETS) expect(keptFilesWith(secret)).toEqual([]);
  await lock.query('rollback');
  await lock.end();
  expect((await response)?.status).toBe(200);
  const replay = await eventually('the spooled response is replayed', async () => {
    const again = await chat({ model: 'paused', headers: { 'idempotency-key': 'spooled' } });
    return again?.headers.get('idempotent-replayed') ? again : undefined;
  });
  expect(replay.status).toBe(200);
  expect(received.at(-1)).toBe(received.findLast((text) => text.includes('"chat.completion"')));
  for (const secret of SECRETS) expect(await tablesWith(secret)).toEqual([]);
});
