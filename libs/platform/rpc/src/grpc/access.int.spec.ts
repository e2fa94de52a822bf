import { createAuthority, issueCertificate, type KeyPairPem } from '@gateway/certificates';
import type { ActingPerson } from '@gateway/actors';
import * as adminContracts from '@gateway/contracts/admin';
import * as auditContracts from '@gateway/contracts/audit';
import * as authContracts from '@gateway/contracts/auth';
import * as ledgerContracts from '@gateway/contracts/billing-ledger';
import { CALLERS, callersOf, DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import * as eventContracts from '@gateway/contracts/events';
import * as queryContracts from '@gateway/contracts/generation-query';
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthDefinition,
} from '@gateway/contracts/health';
import * as routerContracts from '@gateway/contracts/inference-router';
import * as limitContracts from '@gateway/contracts/rate-limit';
import * as usageContracts from '@gateway/contracts/usage-aggregator';
import { ASSERTION_HEADER, type DeniedCall } from '../access';
import { createClient } from '../client';
import type { BoundService, CallOptions, ServiceDefinition } from '../definition';
import { isRpcPermissionDenied } from '../rpc-error';
import { Client, credentials, status } from '@grpc/grpc-js';
import { serviceIn } from './caller-identity';
import { createGrpcServer, type GrpcServer } from './grpc-server';
import { createGrpcTransport, type GrpcTransport } from './grpc-transport';
import { identity } from './grpc-wire';

const DEFINITIONS: readonly ServiceDefinition[] = [
  adminContracts,
  auditContracts,
  authContracts,
  ledgerContracts,
  eventContracts,
  queryContracts,
  routerContracts,
  limitContracts,
  usageContracts,
].flatMap((contracts) =>
  Object.entries(contracts)
    .filter(([name]) => name.endsWith('Definition'))
    .map(([, definition]) => definition as ServiceDefinition),
);

/** Services of the product, a workload of another product, and a client whose certificate names nothing. */
const IDENTITIES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [
      'auth',
      'rate-limit',
      'billing-ledger',
      'usage-aggregator',
      'generation-query',
      'inference-router',
      'edge-proxy',
      'dashboard-api',
      'demo',
    ].map((service) => [service, [`${service}.${DEFAULT_IDENTITY_DOMAIN}`]]),
  ),
  'another product': ['edge-proxy.other-product.internal'],
  'no name of a service': ['10-0-0-7.pod.cluster.local'],
  'two services': [`edge-proxy.${DEFAULT_IDENTITY_DOMAIN}`, `dashboard-api.${DEFAULT_IDENTITY_DOMAIN}`],
};

/** Every method returns an empty message, so that only access decides. */
function emptyService(definition: ServiceDefinition): BoundService {
  const handlers = Object.fromEntries(
    Object.entries(definition.methods).map(([name, method]) => [
      name,
      method.responseStream
        ? async function* () {}
        : async () => method.responseType.decode(new Uint8Array()),
    ]),
  );
  return { definition, handlers, accessOf: () => ({ permission: 'authenticated', audited: false }) };
}

/** As an operator and owner admitted to every method, so that only the caller decides. */
const OPERATOR: ActingPerson = {
  id: 'mem-1',
  label: 'ops@example.com',
  ipAddress: '',
  sessionId: 'ses-1',
  memberRole: 'operator',
  organization: { id: '', role: 'owner' },
};
const AS_OPERATOR = { metadata: { [ASSERTION_HEADER]: 'an assertion' } };

type AnyCall = (request: unknown, options?: CallOptions) => Promise<unknown> | AsyncIterable<unknown>;

describe('who may call what', () => {
  let authority: KeyPairPem;
  let server: GrpcServer;
  let port = 0;
  const transports = new Map<string, GrpcTransport>();
  const denied: DeniedCall[] = [];

  const tlsOf = ({ certificate, privateKey }: KeyPairPem) => ({
    certificateAuthority: Buffer.from(authority.certificate),
    certificate: Buffer.from(certificate),
    privateKey: Buffer.from(privateKey),
    serverName: `billing-ledger.${DEFAULT_IDENTITY_DOMAIN}`,
  });

  beforeAll(async () => {
    authority = await createAuthority();
    const issue = (dnsNames: readonly string[]) => issueCertificate(authority, { dnsNames, validDays: 1 });
    server = createGrpcServer({
      services: DEFINITIONS.map(emptyService),
      host: '127.0.0.1',
      port: 0,
      tls: tlsOf(await issue([`billing-ledger.${DEFAULT_IDENTITY_DOMAIN}`])),
      actors: { verify: async () => OPERATOR },
      onDenied: (call) => denied.push(call),
    });
    ({ port } = await server.start());
    for (const [identity, names] of Object.entries(IDENTITIES)) {
      const tls = tlsOf(await issue(names));
      transports.set(identity, createGrpcTransport({ address: `127.0.0.1:${port}`, tls }));
    }
  });
  afterAll(async () => {
    for (const transport of transports.values()) transport.close();
    await server.stop();
  });

  async function isAllowed(definition: ServiceDefinition, name: string, identity: string): Promise<boolean> {
    const client = createClient(definition, transports.get(identity) as GrpcTransport);
    const call = (client as Record<string, AnyCall>)[name] as AnyCall;
    const codec = definition.methods[name]?.requestType as unknown as { decode(bytes: Uint8Array): unknown };
    try {
      const response = call(codec.decode(new Uint8Array()), AS_OPERATOR);
      if (Symbol.asyncIterator in response) for await (const _message of response);
      else await response;
      return true;
    } catch (error) {
      if (isRpcPermissionDenied(error)) return false;
      throw error;
    }
  }

  it('has callers for every method, each of them a service', () => {
    const methods = DEFINITIONS.flatMap((definition) =>
      Object.values(definition.methods).map(({ name }) => `${definition.fullName}/${name}`),
    );
    expect(Object.keys(CALLERS).sort()).toEqual(methods.sort());
    expect(methods.filter((method) => callersOf(method).length === 0)).toEqual([]);
    for (const method of methods) {
      expect(Object.keys(IDENTITIES)).toEqual(expect.arrayContaining([...callersOf(method)]));
    }
  });

  it.each(DEFINITIONS.map((definition) => [definition.fullName, definition] as const))(
    'serves each method of %s to its callers only',
    async (fullName, definition) => {
      for (const [name, method] of Object.entries(definition.methods)) {
        const rpc = `${fullName}/${method.name}`;
        for (const identity of Object.keys(IDENTITIES)) {
          const allowed = await isAllowed(definition, name, identity);
          expect({ rpc, identity, allowed }).toEqual({
            rpc,
            identity,
            allowed: callersOf(rpc).includes(identity),
          });
        }
      }
    },
  );

  it.each([
    { identity: 'rate-limit', definition: ledgerContracts.BillingLedgerDefinition, method: 'addCredit' },
    { identity: 'edge-proxy', definition: ledgerContracts.BillingLedgerDefinition, method: 'addCredit' },
    {
      identity: 'inference-router',
      definition: ledgerContracts.BillingLedgerDefinition,
      method: 'holdCredit',
    },
    {
      identity: 'edge-proxy',
      definition: authContracts.AuthAdminDefinition,
      method: 'createUnrestrictedKey',
    },
    {
      identity: 'inference-router',
      definition: authContracts.AuthAdminDefinition,
      method: 'ensureMember',
    },
    { identity: 'rate-limit', definition: routerContracts.InferenceRouterDefinition, method: 'generate' },
    {
      identity: 'another product',
      definition: ledgerContracts.BillingLedgerDefinition,
      method: 'holdCredit',
    },
    {
      identity: 'no name of a service',
      definition: ledgerContracts.BillingLedgerDefinition,
      method: 'getBalance',
    },
    { identity: 'two services', definition: ledgerContracts.BillingLedgerDefinition, method: 'holdCredit' },
  ] as const)(
    'denies $identity the method $method of $definition.name',
    async ({ identity, definition, method }) => {
      expect(await isAllowed(definition, method, identity)).toBe(false);
    },
  );

  it('reports each denied call with its caller', async () => {
    denied.length = 0;
    await isAllowed(ledgerContracts.BillingLedgerDefinition, 'addCredit', 'rate-limit');
    await isAllowed(ledgerContracts.BillingLedgerDefinition, 'addCredit', 'another product');
    expect(denied).toEqual([
      {
        rpc: 'gateway.billing_ledger.v1.BillingLedger/AddCredit',
        caller: 'rate-limit',
        reason: expect.any(String),
      },
      {
        rpc: 'gateway.billing_ledger.v1.BillingLedger/AddCredit',
        caller: undefined,
        reason: expect.any(String),
      },
    ]);
  });

  it('denies calls of other gRPC clients as it denies those of services', async () => {
    const { certificateAuthority, certificate, privateKey, serverName } = tlsOf(
      await issueCertificate(authority, {
        dnsNames: [`rate-limit.${DEFAULT_IDENTITY_DOMAIN}`],
        validDays: 1,
      }),
    );
    const other = new Client(
      `127.0.0.1:${port}`,
      credentials.createSsl(certificateAuthority, privateKey, certificate),
      { 'grpc.ssl_target_name_override': serverName },
    );
    denied.length = 0;
    const path = '/gateway.billing_ledger.v1.BillingLedger/AddCredit';
    const failure = await new Promise((resolve) =>
      other.makeUnaryRequest(path, identity, identity, Buffer.alloc(0), resolve),
    );
    expect(failure).toMatchObject({ code: status.PERMISSION_DENIED });
    expect(denied).toMatchObject([{ rpc: path.slice(1), caller: 'rate-limit' }]);
    other.close();
  });

  it('leaves the health of the server open to every certificate of the authority', async () => {
    const health = createClient(HealthDefinition, transports.get('another product') as GrpcTransport);
    expect(await health.check({ service: '' })).toEqual({ status: ServingStatus.SERVING });
  });
});

describe('the service that a certificate names', () => {
  it.each([
    ['DNS:auth.a.internal', 'auth'],
    ['DNS:localhost, DNS:auth.a.internal, IP Address:127.0.0.1', 'auth'],
    ['DNS:auth.a.internal, DNS:edge-proxy.a.internal', undefined],
    ['DNS:auth.b.internal', undefined],
    ['DNS:x.auth.a.internal', undefined],
    ['DNS:*.a.internal', undefined],
    ['URI:auth.a.internal', undefined],
    ['DNS:a.internal', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%p names %p', (subjectAltName, service) => {
    expect(serviceIn(subjectAltName, 'a.internal')).toBe(service);
  });
});
