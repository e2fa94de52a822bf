import { createAdminClient } from '@gateway/admin-calls';
import { createActorSigner, createActorVerifier, createSigningKeys, publicKeysOf } from '@gateway/actors';
import type { ActingPerson } from '@gateway/actors';
import { AUTH_SCHEMA } from '@gateway/auth';
import { createAuthority, issueCertificate, type KeyPairPem } from '@gateway/certificates';
import { AuthAdminDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { ADMIN_CALLERS, DEFAULT_IDENTITY_DOMAIN, isServedTo } from '@gateway/contracts/callers';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createPool } from '@gateway/database';
import { actAs, createActingTransport, createClient, RpcError, type RpcTransport } from '@gateway/rpc';
import { createGrpcServer, createGrpcTransport, type GrpcServer } from '@gateway/rpc/grpc';
import { systemClock as clock } from '@gateway/runtime';
import type { Pool } from 'pg';
import { startFleet, type Fleet } from './testing/fleet';

const AUDIENCE = 'the services under attack';
/** Every certificate of the authority that an attacker may have, the name of its service first. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  'rate-limit': `rate-limit.${DEFAULT_IDENTITY_DOMAIN}`,
  auth: `auth.${DEFAULT_IDENTITY_DOMAIN}`,
  'billing-ledger': `billing-ledger.${DEFAULT_IDENTITY_DOMAIN}`,
  'generation-query': `generation-query.${DEFAULT_IDENTITY_DOMAIN}`,
  'usage-aggregator': `usage-aggregator.${DEFAULT_IDENTITY_DOMAIN}`,
  'inference-router': `inference-router.${DEFAULT_IDENTITY_DOMAIN}`,
  'edge-proxy': `edge-proxy.${DEFAULT_IDENTITY_DOMAIN}`,
  'dashboard-api': `dashboard-api.${DEFAULT_IDENTITY_DOMAIN}`,
  demo: `demo.${DEFAULT_IDENTITY_DOMAIN}`,
  'another workload': 'reports.another-product.internal',
};

let fleet: Fleet;
let pool: Pool;
let authority: KeyPairPem;
let servers: readonly GrpcServer[];
let ports: readonly number[];
let operator: ActingPerson;
let victim: { readonly organizationId: string; readonly operatorId: string };
const open: { close(): void }[] = [];

const tlsOf = async (dnsName: string) => {
  const { certificate, privateKey } = await issueCertificate(authority, {
    dnsNames: [dnsName],
    validDays: 1,
  });
  return {
    certificateAuthority: Buffer.from(authority.certificate),
    certificate: Buffer.from(certificate),
    privateKey: Buffer.from(privateKey),
    serverName: `billing-ledger.${DEFAULT_IDENTITY_DOMAIN}`,
  };
};

beforeAll(async () => {
  fleet = await startFleet();
  authority = await createAuthority();
  const publicKeys = publicKeysOf([await createSigningKeys(clock.now())]);
  const tls = await tlsOf(`billing-ledger.${DEFAULT_IDENTITY_DOMAIN}`);
  const start = async (kind: 'requests' | 'admins', moduleNames: readonly string[]) => {
    const services = fleet.modules.inOrder
      .filter(({ name }) => moduleNames.includes(name))
      .flatMap((module) => module.services);
    const server = createGrpcServer({
      services: services.filter(({ definition }) => isServedTo(definition.fullName, kind)),
      host: '127.0.0.1',
      port: 0,
      tls,
      actors: createActorVerifier({ keys: () => publicKeys, audience: AUDIENCE, clock }),
      ...(kind === 'requests' && { refusedCallers: ADMIN_CALLERS }),
    });
    return { server, ...(await server.start()) };
  };
  const started: Awaited<ReturnType<typeof start>>[] = [];
  for (const names of [
    ['auth', 'operator-notifications'],
    ['billing-ledger', 'statements'],
  ]) {
    started.push(await start('requests', names), await start('admins', names));
  }
  servers = started.map(({ server }) => server);
  ports = started.map(({ port }) => port);
  pool = createPool({
    url: fleet.databaseUrl,
    schema: AUTH_SCHEMA,
    applicationName: 'test',
    maxConnections: 1,
  });
  const { rows } = await pool.query<{ organization: string; member: string }>(
    `select (select id from organizations limit 1) as organization,
            (select id from members where role = 'operator' limit 1) as member`,
  );
  victim = { organizationId: rows[0]?.organization ?? '', operatorId: rows[0]?.member ?? '' };
  operator = {
    id: victim.operatorId,
    label: 'admin@gateway.local',
    ipAddress: '',
    sessionId: 'ses-1',
    memberRole: 'operator',
    organization: { id: victim.organizationId },
  };
});
afterAll(async () => {
  for (const transport of open) transport.close();
  for (const server of servers ?? []) await server.stop();
  await pool?.end();
  await fleet?.close();
});

/** All that an attacker wants to change. */
async function state() {
  const { rows } = await pool.query<Record<string, string>>(
    `select (select sum(credited_nano_usd)::text || ' ' || sum(held_nano_usd)::text from billing_ledger.accounts) as money,
            (select count(*)::text from api_keys) as keys,
            (select count(*)::text from password_resets) as resets,
            (select string_agg(id || coalesce(password_hash, ''), ' ' order by id) from members) as members,
            (select webhook from notification_settings) as webhook,
            (select count(*)::text from audit_entries) as audited,
            (select count(*)::text from billing_ledger.audit_entries) as credits`,
  );
  return rows[0];
}

/** Each attack of the list, made with a transport to one port. */
const ATTACKS: Readonly<Record<string, (transport: RpcTransport) => Promise<unknown>>> = {
  'add 1,000,000 USD of credit': (transport) =>
    createClient(BillingLedgerDefinition, transport).addCredit({
      creditId: 'crd-attack',
      organizationId: victim.organizationId,
      amountNanoUsd: 1_000_000_000_000_000n,
      note: 'system',
    }),
  'correct the balance': (transport) =>
    createAdminClient(transport).call(endpoints.credit.previewCorrection, {
      params: { organization_id: victim.organizationId },
      body: { amount_usd: '0.000000001', reason: 'x' },
    }),
  'create a key in a foreign organization': (transport) =>
    createAdminClient(transport).call(endpoints.keys.create, {
      params: { organization_id: victim.organizationId },
      body: { name: 'x', scopes: ['chat'] },
    }),
  'reset the password of the operator': (transport) =>
    createAdminClient(transport).call(endpoints.people.createPasswordResetLink, {
      params: { member_id: victim.operatorId },
      body: {},
    }),
  'redirect the notifications of operators': (transport) =>
    createAdminClient(transport).call(endpoints.notifications.set, {
      body: { email_enabled: false, extra_emails: [], webhook_url: 'https://attacker.example' },
    }),
  'become an operator': (transport) =>
    createClient(AuthAdminDefinition, transport).ensureMember({
      email: 'attacker@example.com',
      password: 'correct horse battery',
      role: 1,
      resetPassword: true,
    }),
  'read the keys of an organization': (transport) =>
    createAdminClient(transport).call(parts.keys, { params: { organization_id: victim.organizationId } }),
};

const hold = (transport: RpcTransport) =>
  createClient(BillingLedgerDefinition, transport).holdCredit({
    holds: [
      {
        holdId: 'gen-attack',
        organizationId: victim.organizationId,
        keyId: 'key-x',
        amountNanoUsd: 1n,
        prices: undefined,
        lifetimeMs: 60_000,
        createdUnixMs: BigInt(Date.now()),
        budgets: [],
      },
    ],
  });

/** Repeats a call that a busy machine did not respond to before its deadline. */
async function failureOf(attack: () => Promise<unknown>): Promise<string> {
  for (;;) {
    const failure = await attack().then(
      () => 'done',
      (error: unknown) => (error instanceof RpcError ? error.failure : 'done'),
    );
    if (failure !== 'deadline_exceeded') return failure;
  }
}
const REFUSALS = ['permission_denied', 'unauthenticated', 'unimplemented', 'unavailable', 'unreachable'];

async function connect(port: number, dnsName: string | undefined) {
  const transport = createGrpcTransport({
    address: `127.0.0.1:${port}`,
    ...(dnsName !== undefined && { tls: await tlsOf(dnsName) }),
  });
  open.push(transport);
  return transport;
}

describe.each([['no certificate', undefined] as const, ...Object.entries(CERTIFICATES)])(
  'an attacker with the certificate of %s',
  (_name, dnsName) => {
    it.each(Object.entries(ATTACKS))('cannot %s', async (_attack, attack) => {
      const before = await state();
      // Keys of the attacker's own, and every claim that opens the method.
      const stolen = await createSigningKeys(clock.now());
      const signer = createActorSigner({ keys: () => stolen, issuer: 'dashboard-api', clock });
      for (const port of ports) {
        const transport = await connect(port, dnsName);
        const forged = createActingTransport(transport, { audience: AUDIENCE, signer });
        expect(REFUSALS).toContain(await failureOf(() => attack(transport)));
        expect(REFUSALS).toContain(await failureOf(() => actAs(operator, () => attack(forged))));
      }
      expect(await state()).toEqual(before);
    });

    if (dnsName !== CERTIFICATES['edge-proxy']) {
      it('cannot hold credit of an organization', async () => {
        const before = await state();
        for (const port of ports) {
          const transport = await connect(port, dnsName);
          expect(REFUSALS).toContain(await failureOf(() => hold(transport)));
        }
        expect(await state()).toEqual(before);
      });
    }
  },
);
