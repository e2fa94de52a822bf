import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPool } from '@gateway/database';
import { createSilentLogger, readConfig } from '@gateway/runtime';
import {
  createTestDatabase,
  eventually,
  readDevFile,
  startMailServer,
  type TestDatabase,
} from '@gateway/test-support';
import { settings } from './config';
import { createCuttableDatabase, type CuttableDatabase } from './testing/cuttable-database';
import { createBrowser, type Browser } from './testing/dashboard-fixture';
import { createGateway, type Gateway } from './wiring';

jest.setTimeout(180_000);

interface ReceivedWebhook {
  readonly body: string;
  readonly signature: string;
}

interface Message {
  readonly event: string;
  readonly cause: string;
  readonly subjects: readonly { readonly subject: string }[];
}

const REJECTED = "A provider rejects the gateway's API key, address or model name";
const UNAVAILABLE = 'A database is unavailable';

/** A target whose fault makes the emulator respond 401, as a provider does to a wrong key. */
const modelsFile = (providerModel: string) => `
providers:
  - name: emulator
    base_url: \${MODEL_EMULATOR_URL}
models:
  - id: test/chat
    targets: [{ provider: emulator, model: ${providerModel} }]
    context_window: 8192
    max_output_tokens: 1024
    prices: { input: '0.10', output: '0.40' }
    tokenizer: { encoding: o200k_base }
`;

describe('operator notifications of one process', () => {
  let folder: string;
  let database: TestDatabase;
  let cuttable: CuttableDatabase;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  let webhookServer: Server;
  let gateway: Gateway;
  let operator: Browser;
  let secret: string;
  let operatorEmail: string;
  const webhooks: ReceivedWebhook[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'gateway-notifications-'));
    [database, mailServer] = await Promise.all([createTestDatabase(), startMailServer()]);
    cuttable = await createCuttableDatabase(database.url);
    webhookServer = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const signature = String(request.headers['x-gateway-signature']);
        webhooks.push({ body: Buffer.concat(chunks).toString(), signature });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => webhookServer.listen(0, '127.0.0.1', resolve));
    writeFileSync(path.join(folder, 'models.yaml'), modelsFile('emu-standard+fault:401'));
    gateway = await startGateway();
    const { adminEmail, adminPassword, dashboardUrl } = readDevFile(folder);
    operatorEmail = adminEmail;
    operator = createBrowser(Number(new URL(dashboardUrl).port));
    await operator.request('POST /api/session', { email: adminEmail, password: adminPassword });
    await operator.request('PUT /api/account/profile', { time_zone: 'Asia/Tokyo' });
    const set = await operator.request('PUT /api/operator/notifications/settings', {
      email_enabled: true,
      extra_emails: [],
      webhook_url: `http://127.0.0.1:${(webhookServer.address() as AddressInfo).port}/secret-path`,
    });
    expect(set.status).toBe(200);
    secret = (set.json as { webhook_secret: string }).webhook_secret;
  });

  afterAll(async () => {
    await gateway?.stop();
    await mailServer?.stop();
    await new Promise((resolve) => webhookServer.close(resolve));
    await cuttable?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startGateway(): Promise<Gateway> {
    const environment = {
      DATABASE_URL: cuttable.url,
      GATEWAY_STATE_DIR: folder,
      GATEWAY_MODELS_FILE: path.join(folder, 'models.yaml'),
      GATEWAY_PORT: '0',
      GATEWAY_DASHBOARD_PORT: '0',
      GATEWAY_ADMIN_PORT: '0',
      GATEWAY_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true',
    };
    const config = { ...readConfig(settings, environment), stateDirectory: folder, environment };
    const started = createGateway(config, createSilentLogger(), {
      incidentIntervalMs: 50,
      // Far above the intervals, so that a busy machine does not look like a recovery.
      notifications: { intervalMs: 50, openAfterMs: 200, currentMs: 5_000, recoveredAfterMs: 6_000 },
    });
    await started.start({ showSecrets: true });
    return started;
  }

  const chat = async (): Promise<number> => {
    const { baseUrl, apiKey } = readDevFile(folder);
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/chat', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    return response.status;
  };
  const messages = () => webhooks.map(({ body }) => JSON.parse(body) as Message);
  const mailsAbout = (title: string) =>
    mailServer.mails.filter(({ data }) => data.replace(/\r\n[ \t]/g, ' ').includes(title));
  const notifiedOf = (event: string, cause: string) =>
    eventually(`a webhook ${event} ${cause}`, async () =>
      messages().find((one) => one.event === `operator.incident_${event}` && one.cause === cause),
    );

  it('send one email and one webhook of a wrong credential, and one of each when it is repaired', async () => {
    expect(await chat()).toBe(500);
    expect(await chat()).toBe(500);
    const opened = await notifiedOf('opened', 'upstream_config_error');
    expect(opened.subjects).toMatchObject([{ subject: expect.stringContaining('emulator') as string }]);
    writeFileSync(path.join(folder, 'models.yaml'), modelsFile('emu-standard'));
    await notifiedOf('recovered', 'upstream_config_error');
    await eventually('both emails', async () => (mailsAbout(REJECTED).length >= 2 ? true : undefined));
    expect(await chat()).toBe(200);
    for (const { data } of mailsAbout(REJECTED)) expect(data).toContain('Asia/Tokyo');

    const own = messages().filter(({ cause }) => cause === 'upstream_config_error');
    expect(own.map(({ event }) => event)).toEqual([
      'operator.incident_opened',
      'operator.incident_recovered',
    ]);
    const mails = mailsAbout(REJECTED);
    expect(mails.map(({ to }) => to)).toEqual([[operatorEmail], [operatorEmail]]);
    expect(mails.map(({ data }) => /^Subject: .*Resolved/m.test(data))).toEqual([false, true]);
  });

  it('are signed as low-balance webhooks are', async () => {
    const { body, signature } = webhooks[0] as ReceivedWebhook;
    const [, seconds = '', hex] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    expect(hex).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
  });

  it('are sent while the database is unavailable, and stored once it is available again', async () => {
    await cuttable.cut();
    await notifiedOf('opened', 'database_unavailable');
    await eventually('an email', async () => mailsAbout(UNAVAILABLE)[0]);
    await cuttable.restore();
    await notifiedOf('recovered', 'database_unavailable');
    const kinds = await eventually('the history', async () => {
      const { status, json } = await operator.request('GET /api/operator/notifications');
      if (status !== 200) return undefined;
      const { notifications } = json as { notifications: { kind: string; cause: string }[] };
      const own = notifications.filter(({ cause }) => cause === 'database_unavailable');
      return own.length >= 2 ? own.map(({ kind }) => kind) : undefined;
    });
    expect(kinds).toEqual(['recovered', 'opened']);
    const own = messages().filter(({ cause }) => cause === 'database_unavailable');
    expect(own).toHaveLength(2);
  });

  it('never show the webhook again, nor its path in the audit log', async () => {
    const { json } = await operator.request('GET /api/operator/notifications');
    expect(json).toMatchObject({
      settings: { webhook_host: expect.stringContaining('127.0.0.1') as string },
    });
    expect(JSON.stringify(json)).not.toContain('secret-path');
    const audit = JSON.stringify((await operator.request('GET /api/audit')).json);
    expect(audit).toContain('operator_notifications.set');
    expect(audit).not.toContain('secret-path');
    const pool = createPool({
      url: database.url,
      schema: 'auth',
      applicationName: 'test',
      maxConnections: 1,
    });
    const { rows } = await pool.query('select webhook from notification_settings');
    await pool.end();
    expect(JSON.stringify(rows)).toMatch(/"webhook":"enc1\./);
  });
});
