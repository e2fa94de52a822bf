import { DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActingPerson } from '@gateway/actors';
import { writeActorKeys, writeServiceCertificates } from '@gateway/certificates';
import { AdminDefinition } from '@gateway/contracts/admin';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { findFreePort } from '@gateway/database';
import {
  actAs,
  createActingTransport,
  createClient,
  isRpcPermissionDenied,
  isRpcUnauthenticated,
  isRpcUnavailable,
  type ServiceDefinition,
} from '@gateway/rpc';
import { createReplicatedTransport } from '@gateway/rpc/grpc';
import { createLogger } from '@gateway/runtime';
import { z } from 'zod';
import { openActorSigner, openActorVerifier } from './actor-keys';
import { createService, type RunningService } from './run-service';
import { serviceSettings, type ServiceConfig } from './settings';
import { openRpcTls, openTlsFolder } from './tls-folder';

const CALLERS = ['edge-proxy', 'inference-router', 'rate-limit', 'dashboard-api'];

const OPERATOR: ActingPerson = {
  id: 'mem-1',
  label: 'ops@example.com',
  ipAddress: '',
  sessionId: 'ses-1',
  memberRole: 'operator',
  organization: { id: 'org-1' },
};

/** Every method returns an empty message, so that only access decides. */
const emptyService = (definition: ServiceDefinition) => ({
  definition,
  handlers: Object.fromEntries(
    Object.entries(definition.methods).map(([name, method]) => [
      name,
      async () => method.responseType.decode(new Uint8Array()),
    ]),
  ),
  accessOf: () => ({ permission: 'platform:settlement', audited: false }),
});

describe('the ports of a service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-ports-'));
  let service: RunningService;
  let config: ServiceConfig;
  const warnings: string[] = [];

  beforeAll(async () => {
    await writeServiceCertificates(folder, {
      services: [...CALLERS, 'billing-ledger'],
      domain: DEFAULT_IDENTITY_DOMAIN,
      validDays: 1,
    });
    await writeActorKeys(folder, {
      services: ['billing-ledger'],
      signers: ['dashboard-api'],
      rotationDays: 1,
      nowUnixMs: Date.now(),
    });
    config = z.object(serviceSettings).parse({
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_RPC_PORT: await findFreePort(),
      GATEWAY_RPC_ADMIN_PORT: await findFreePort(),
      GATEWAY_ADMIN_PORT: await findFreePort(),
      GATEWAY_RPC_TLS_DIR: join(folder, 'billing-ledger'),
      GATEWAY_ACTOR_KEYS_DIR: join(folder, 'billing-ledger'),
      GATEWAY_SHUTDOWN_GRACE_MS: 5_000,
    });
    service = create(config);
    await service.start();
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const create = (settings: ServiceConfig) =>
    createService({
      name: 'billing-ledger',
      config: settings,
      tls: openRpcTls(settings),
      log: createLogger({
        name: 'billing-ledger',
        level: 'warn',
        pretty: false,
        destination: { write: (line) => void warnings.push(line) },
      }),
      wire: async () => ({
        modules: [
          {
            name: 'billing-ledger',
            services: [BillingLedgerDefinition, AdminDefinition].map(emptyService),
            consumers: [],
            start: async () => undefined,
            stop: async () => undefined,
          },
        ],
      }),
    });

  async function outcomeOf(
    caller: string | undefined,
    port: number,
    method: 'hold' | 'add' | 'list',
    person = OPERATOR,
  ) {
    const tls =
      caller === undefined ? undefined : openTlsFolder(join(folder, caller), DEFAULT_IDENTITY_DOMAIN);
    const transport = createReplicatedTransport({
      target: `127.0.0.1:${port}`,
      limits: { connectWaitMs: 300 },
      ...(tls && { tls: () => tls.clientTls('billing-ledger') }),
    });
    const signer = openActorSigner(join(folder, 'dashboard-api'), 'dashboard-api');
    const acting = createActingTransport(transport, { audience: 'billing-ledger', signer });
    const ledger = createClient(BillingLedgerDefinition, acting);
    const admin = createClient(AdminDefinition, acting);
    const credit = { creditId: 'crd-1', organizationId: 'org-1', amountNanoUsd: 1_000_000n, note: '' };
    const call = (): Promise<unknown> => {
      if (method === 'hold') return ledger.holdCredit({ holds: [] });
      return method === 'add' ? ledger.addCredit(credit) : admin.read({ endpoint: 'x', inputJson: '{}' });
    };
    try {
      await actAs(person, call);
      return 'served';
    } catch (error) {
      if (isRpcUnauthenticated(error)) return 'without a person';
      if (isRpcPermissionDenied(error)) return 'denied';
      if (isRpcUnavailable(error)) return 'no connection';
      return 'not offered';
    } finally {
      transport.close();
    }
  }

  it.each([
    ['edge-proxy', 'hold', 'served'],
    ['inference-router', 'hold', 'denied'],
    ['rate-limit', 'hold', 'denied'],
    ['edge-proxy', 'add', 'denied'],
    ['rate-limit', 'add', 'denied'],
    // dashboard-api adds credit on the other port.
    ['dashboard-api', 'add', 'denied'],
    ['edge-proxy', 'list', 'not offered'],
    ['dashboard-api', 'list', 'not offered'],
    [undefined, 'add', 'no connection'],
  ] as const)('on the port for requests, a call of %s to %s is %s', async (caller, method, outcome) => {
    expect(await outcomeOf(caller, config.GATEWAY_RPC_PORT, method)).toBe(outcome);
  });

  it.each([
    ['dashboard-api', 'add', 'served'],
    ['dashboard-api', 'list', 'served'],
    ['dashboard-api', 'hold', 'denied'],
    ['edge-proxy', 'add', 'denied'],
    ['edge-proxy', 'list', 'denied'],
    ['inference-router', 'list', 'denied'],
    [undefined, 'add', 'no connection'],
  ] as const)('on the port for administration, a call of %s to %s is %s', async (caller, method, outcome) => {
    expect(await outcomeOf(caller, config.GATEWAY_RPC_ADMIN_PORT, method)).toBe(outcome);
  });

  it.each(['add', 'list'] as const)('dashboard-api cannot %s without a signed-in person', async (method) => {
    const port = config.GATEWAY_RPC_ADMIN_PORT;
    expect(await outcomeOf('dashboard-api', port, method, { ...OPERATOR, memberRole: 'member' })).toBe(
      'denied',
    );
    expect(await outcomeOf('dashboard-api', port, method, { ...OPERATOR, id: 'system' })).toBe(
      'without a person',
    );
  });

  it('does not start without the keys of assertions', () => {
    expect(() => openActorVerifier(join(folder, 'nothing'), 'billing-ledger')).toThrow(
      /GATEWAY_ACTOR_KEYS_DIR/,
    );
    expect(() => openActorSigner(join(folder, 'nothing'), 'dashboard-api')).toThrow(/GATEWAY_ACTOR_KEYS_DIR/);
  });

  it('logs a client that repeats a denied call once, with its name', async () => {
    warnings.splice(0);
    for (let n = 0; n < 20; n += 1) await outcomeOf('inference-router', config.GATEWAY_RPC_ADMIN_PORT, 'add');
    const lines = warnings.map((line) => JSON.parse(line) as { rpc?: string; caller?: string });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      caller: 'inference-router',
      rpc: 'gateway.billing_ledger.v1.BillingLedger/AddCredit',
    });
  });

  it('are both closed when one of them is in use', async () => {
    const rpcPort = await findFreePort();
    const second = create({
      ...config,
      GATEWAY_RPC_SECURITY: 'plaintext',
      GATEWAY_RPC_PORT: rpcPort,
      GATEWAY_ADMIN_PORT: await findFreePort(),
    });
    await expect(second.start()).rejects.toThrow(/EADDRINUSE|No address added/);
    await second.stop();
    expect(await outcomeOf(undefined, rpcPort, 'hold')).toBe('no connection');
  });

  it('does not start without certificates unless the settings choose plain text', () => {
    expect(() => openRpcTls({ ...config, GATEWAY_RPC_TLS_DIR: join(folder, 'nothing') })).toThrow(
      /GATEWAY_RPC_TLS_DIR: .*GATEWAY_RPC_SECURITY/s,
    );
    expect(openRpcTls({ ...config, GATEWAY_RPC_SECURITY: 'plaintext' })).toBeUndefined();
  });
});
