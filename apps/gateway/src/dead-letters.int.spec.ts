import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { DAY_MS, nanoUsd } from '@gateway/base';
import { createAdminClient } from '@gateway/admin-calls';
import { stubsOf } from '@gateway/admin-calls/testing';
import { AUTH_SCHEMA, authSchema, createAuthAdapters, createAuthModule } from '@gateway/auth';
import {
  BILLING_LEDGER_SCHEMA,
  billingLedgerSchema,
  createBillingLedgerModule,
  createPostgresClaimStore,
  createPostgresLedgerHistory,
  createPostgresLedgerStore,
} from '@gateway/billing-ledger';
import { AuthAdminDefinition, MemberRole } from '@gateway/contracts/auth';
import { DeadLettersDefinition, GenerationFinished } from '@gateway/contracts/events';
import { createDashboardApi } from '@gateway/dashboard-api';
import { endpoints } from '@gateway/dashboard-contract';
import { applyMigrations, createPool } from '@gateway/database';
import {
  createPostgresEventLog,
  EVENT_LOG_SCHEMA,
  eventLogSchema,
  TOPIC_GENERATION_FINISHED,
} from '@gateway/events';
import {
  createActingTransport,
  createClient,
  createInProcessTransport,
  type BoundService,
} from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock as clock } from '@gateway/runtime';
import {
  createAuditEntry,
  createTestDatabase,
  eventually,
  inProcessFor,
  unsignedActors,
} from '@gateway/test-support';

const EMAIL = 'ops@example.com';
const PASSWORD = 'correct horse battery';
const COMMAND = path.resolve(__dirname, '../../../tools/commands/dead-letters.mjs');
const DEAD_LETTERS = `billing-ledger/${TOPIC_GENERATION_FINISHED}`;

type Fixture = Awaited<ReturnType<typeof createFixture>>;
let fixture: Fixture;

/** A ledger that consumes from the event log, and the dashboard API. */
async function createFixture() {
  const database = await createTestDatabase();
  const log = createSilentLogger();
  const metrics = createMetrics({ processMetrics: false });
  const [auth, ledger, events] = [AUTH_SCHEMA, BILLING_LEDGER_SCHEMA, EVENT_LOG_SCHEMA].map((schema) =>
    createPool({ url: database.url, schema, applicationName: schema, maxConnections: 6 }),
  ) as [ReturnType<typeof createPool>, ReturnType<typeof createPool>, ReturnType<typeof createPool>];
  await applyMigrations(auth, authSchema);
  await applyMigrations(ledger, billingLedgerSchema);
  await applyMigrations(events, eventLogSchema);
  const adapters = createAuthAdapters({ pool: auth, clock, log, scryptCost: { N: 16, r: 1, p: 1 } });
  const notifications = stubsOf(Object.values(endpoints.notifications));
  const authModule = createAuthModule({ adapters, clock, newId, log, metrics, endpoints: notifications });
  await authModule.start();
  const acting = ({ services }: { readonly services: readonly BoundService[] }) =>
    createActingTransport(createInProcessTransport(services, { actors: unsignedActors }), {
      audience: 'test',
      signer: unsignedActors,
    });
  await createClient(AuthAdminDefinition, inProcessFor(authModule.services)).ensureMember({
    email: EMAIL,
    password: PASSWORD,
    role: MemberRole.MEMBER_ROLE_OPERATOR,
    resetPassword: false,
  });
  const eventLog = createPostgresEventLog({ pool: events, clock, log, metrics });
  const store = createPostgresLedgerStore({ pool: ledger, appender: eventLog, clock });
  const ledgerModule = createBillingLedgerModule({
    store,
    claims: createPostgresClaimStore({ pool: ledger }),
    history: createPostgresLedgerHistory({ pool: ledger, clock, closedHoldRetentionMs: DAY_MS }),
    events: eventLog,
    clock,
    log,
    metrics,
  });
  for (const consumer of ledgerModule.consumers) await eventLog.subscribe(consumer);
  const deadLetters = createClient(DeadLettersDefinition, acting(ledgerModule));
  const api = createDashboardApi({
    owners: { auth: createAdminClient(acting(authModule)) } as never,
    inferenceRouter: {} as never,
    auditLogs: [],
    deadLetters: new Map([['billing-ledger', deadLetters]]),
    clock,
    newId,
    log,
    metrics,
    settings: { host: '127.0.0.1', port: 0 },
  });
  await api.start();
  return {
    eventLog,
    store,
    ledgerPool: ledger,
    url: `http://127.0.0.1:${api.port()}`,
    async stop() {
      await api.stop();
      await eventLog.stop();
      await ledgerModule.stop();
      await authModule.stop();
      await Promise.all([auth, ledger, events].map((pool) => pool.end()));
      await database.drop();
    },
  };
}

beforeAll(async () => {
  fixture = await createFixture();
});

afterAll(() => fixture.stop());

/** Runs the command as an operator does. */
async function command(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...args], {
    env: {
      ...process.env,
      GATEWAY_DASHBOARD_URL: fixture.url,
      GATEWAY_DASHBOARD_EMAIL: EMAIL,
      GATEWAY_DASHBOARD_PASSWORD: PASSWORD,
    },
  });
  return stdout;
}

const append = (generation: Partial<GenerationFinished>) =>
  fixture.eventLog.append(TOPIC_GENERATION_FINISHED, [
    {
      key: 'org-1',
      payload: GenerationFinished.encode(
        GenerationFinished.fromPartial({ organizationId: 'org-1', keyId: 'key-1', ...generation }),
      ).finish(),
    },
  ]);

const usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  imageTokens: 0,
  completionTokens: 5,
  reasoningTokens: 0,
};
const PRICES = {
  inputNanoUsdPerMillion: 1_000_000n,
  cachedInputNanoUsdPerMillion: 2_000_000n,
  cacheWriteNanoUsdPerMillion: 6_000_000n,
  cacheWrite1hNanoUsdPerMillion: 7_000_000n,
  outputNanoUsdPerMillion: 3_000_000n,
  reasoningNanoUsdPerMillion: 4_000_000n,
  imageNanoUsdPerMillion: 5_000_000n,
  tiers: [],
};

/** Repeats the command until its output matches. */
const printed = (args: string[], pattern: RegExp): Promise<string> =>
  eventually(`${args.join(' ')}: ${pattern.source}`, async () => {
    const text = await command(...args);
    return pattern.test(text) ? text : undefined;
  });

/** Creates a dead letter: a finished generation with neither a hold nor prices cannot be settled. */
async function createDeadLetter(generationId: string): Promise<string> {
  const createdUnixMs = BigInt(clock.now());
  await append({ generationId, createdUnixMs, usage });
  const listed = await printed(['list'], /1 pending/);
  expect(listed).toContain('1 attempts  it has neither a hold nor prices');
  return /^billing-ledger\/generation\.finished\/\d+/m.exec(listed)?.[0] ?? '';
}

async function settlementsOf(generationId: string): Promise<number> {
  const { rows } = await fixture.ledgerPool.query<{ settled: number }>(
    `select count(*)::integer as settled from postings where reference = $1 and kind = 'settlement'`,
    [generationId],
  );
  return rows[0]?.settled ?? 0;
}

async function auditEntries(action: string) {
  const entries = await fixture.eventLog.deadLetters.auditEntries.list({}, { limit: 50, before: undefined });
  return entries.filter((entry) => entry.action === action);
}

it('a dead-lettered generation fails again on redelivery, and settles when its hold exists', async () => {
  const name = await createDeadLetter('gen-1');
  expect(JSON.parse(await command('show', name))).toMatchObject({
    state: 'pending',
    payload: { generation_id: 'gen-1', usage: { completion_tokens: 5 } },
  });
  await command('redeliver', name);
  await printed(['show', name], /"attempts": 2/);

  const at = clock.now();
  await fixture.store.addCredit(
    {
      creditId: 'credit-1',
      organizationId: 'org-1',
      amountNanoUsd: nanoUsd(100n),
      note: 'a test',
    },
    createAuditEntry(),
  );
  const [hold] = await fixture.store.holdCredit([
    {
      holdId: 'gen-1',
      organizationId: 'org-1',
      keyId: 'key-1',
      amountNanoUsd: nanoUsd(20n),
      prices: PRICES,
      budgets: [],
      createdAt: at,
      lifetimeMs: 60_000,
      idempotencyScope: undefined,
      runId: undefined,
      projectId: undefined,
    },
  ]);
  expect(hold).toEqual({ kind: 'held' });
  await command('redeliver', name);
  await printed(['list'], /No consumer group has dead letters/);
  expect(await settlementsOf('gen-1')).toBe(1);
  expect((await fixture.store.readBalance('org-1')).chargedNanoUsd).toBe(15n);
  expect(await auditEntries('dead_letter.redeliver')).toMatchObject(
    Array(2).fill({ target: name, actor: { label: EMAIL } }),
  );
});

it('a discarded dead letter is never settled, and keeps its reason', async () => {
  const name = await createDeadLetter('gen-2');
  await expect(command('discard', name)).rejects.toMatchObject({
    stderr: expect.stringContaining('--reason'),
  });
  await command('discard', name, '--reason', 'a load test');
  expect(await command('list', '--state', 'discarded')).toContain('discarded: a load test');
  expect(await settlementsOf('gen-2')).toBe(0);
  expect(await auditEntries('dead_letter.discard')).toMatchObject([
    { target: name, details: { reason: 'a load test' } },
  ]);
});

it('the command prints a clear error and exits with a failure code', async () => {
  await expect(command('show', `${DEAD_LETTERS}/4711`)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/There is no such dead letter\.\n$/),
  });
  await expect(command('show', 'gen-1')).rejects.toMatchObject({ code: 2 });
});
