import {
  createActorSigner,
  createActorVerifier,
  createSigningKeys,
  publicKeysOf,
  type ActingPerson,
  type ActorVerifier,
  type ActingToken,
  type CallActor,
  type SigningKeys,
} from '@gateway/actors';
import { isPermission, type UnixMs } from '@gateway/base';
import { createAuthority, issueCertificate } from '@gateway/certificates';
import * as adminContracts from '@gateway/contracts/admin';
import * as auditContracts from '@gateway/contracts/audit';
import * as authContracts from '@gateway/contracts/auth';
import * as ledgerContracts from '@gateway/contracts/billing-ledger';
import {
  ADMIN_CALLERS,
  AUDITED,
  CALLERS,
  callersOf,
  DEFAULT_IDENTITY_DOMAIN,
  PERMISSIONS,
  WITHOUT_PERSON,
} from '@gateway/contracts/callers';
import * as eventContracts from '@gateway/contracts/events';
import * as queryContracts from '@gateway/contracts/generation-query';
import * as routerContracts from '@gateway/contracts/inference-router';
import { ASSERTION_HEADER } from './access';
import { actAs, createActingTransport } from './acting';
import { createClient } from './client';
import type { BoundService, CallAccess, CallContext, CallOptions, ServiceDefinition } from './definition';
import { createGrpcServer } from './grpc/grpc-server';
import { createGrpcTransport } from './grpc/grpc-transport';
import { createInProcessTransport } from './in-process/in-process-transport';
import { RpcError } from './rpc-error';
import type { RpcTransport } from './transport';

const { BillingLedgerDefinition } = ledgerContracts;
const DEFINITIONS: readonly ServiceDefinition[] = [
  adminContracts,
  auditContracts,
  authContracts,
  ledgerContracts,
  eventContracts,
  queryContracts,
  routerContracts,
].flatMap((contracts) =>
  Object.entries(contracts)
    .filter(([name]) => name.endsWith('Definition'))
    .map(([, definition]) => definition as ServiceDefinition),
);

const NOW = Date.now();
const clockAt = (offsetMs: number) => ({ now: () => (NOW + offsetMs) as UnixMs });
const AUDIENCE = 'billing-ledger';
const ADMIN: ActingPerson = {
  id: 'mem-ada',
  label: 'ada@example.com',
  ipAddress: '192.0.2.1',
  sessionId: 'ses-1',
  memberRole: 'member',
  organization: { id: 'org-1', role: 'admin' },
};
const OPERATOR: ActingPerson = { ...ADMIN, memberRole: 'operator', organization: { id: 'org-1' } };
/** Management tokens of the same rights, by access. */
const TOKENS = {
  read: { id: 'mtk-1', label: 'report (token of ada@example.com)', tokenAccess: 'read' },
  read_write: { id: 'mtk-2', label: 'deploy (token of ada@example.com)', tokenAccess: 'read_write' },
} as const satisfies Readonly<Record<string, Pick<ActingToken, 'id' | 'label' | 'tokenAccess'>>>;
const tokenFor = (
  access: keyof typeof TOKENS,
  { sessionId: _session, tokenAccess: _none, ...rights }: ActingPerson,
) => ({
  ...rights,
  ...TOKENS[access],
});
/** What dashboard-api may call, without streams. */
const CALLABLE = Object.keys(CALLERS)
  .filter((rpc) => callersOf(rpc).includes('dashboard-api') && !rpc.endsWith('/WatchCatalogue'))
  .sort();
const CREDIT = { creditId: 'crd-1', organizationId: 'org-1', amountNanoUsd: 1n, note: '' };
const OF_KEYS = { endpoint: 'of keys', organizationId: 'org-1', inputJson: '' };

/** The actors that the handlers saw, by method. */
const served: { readonly method: string; readonly actor: CallActor | undefined }[] = [];

function recordingService(definition: ServiceDefinition): BoundService {
  const handlers = Object.fromEntries(
    Object.entries(definition.methods).map(([name, method]) => [
      name,
      method.responseStream
        ? async function* () {}
        : async (_request: never, { actor }: CallContext) => {
            served.push({ method: method.name, actor });
            return method.responseType.decode(new Uint8Array());
          },
    ]),
  );
  return { definition, handlers, accessOf: accessOfEndpoint };
}

/** What endpoints of the service Admin need; the empty name is that of an empty message. */
const ENDPOINTS: Readonly<Record<string, string | undefined>> = {
  '': 'authenticated',
  'of anyone': undefined,
  'of keys': 'keys:manage',
};

function accessOfEndpoint(_method: string, request: unknown): CallAccess {
  const { endpoint } = request as { readonly endpoint: string };
  if (!Object.hasOwn(ENDPOINTS, endpoint)) throw new RpcError('unimplemented', `no ${endpoint}`);
  return { permission: ENDPOINTS[endpoint], audited: false };
}

interface Served {
  /** For the caller dashboard-api. */
  readonly transport: RpcTransport;
  close(): Promise<void>;
}

const services = DEFINITIONS.map(recordingService);
const TRANSPORTS: Readonly<Record<string, (actors?: ActorVerifier) => Promise<Served>>> = {
  'in process': async (actors) => ({
    transport: createInProcessTransport(services, { caller: 'dashboard-api', ...(actors && { actors }) }),
    close: async () => undefined,
  }),
  'over gRPC with mTLS': async (actors) => {
    const authority = await createAuthority();
    const tlsOf = async (service: string) => {
      const dnsNames = [`${service}.${DEFAULT_IDENTITY_DOMAIN}`];
      const { certificate, privateKey } = await issueCertificate(authority, { dnsNames, validDays: 1 });
      return {
        certificateAuthority: Buffer.from(authority.certificate),
        certificate: Buffer.from(certificate),
        privateKey: Buffer.from(privateKey),
        serverName: `${AUDIENCE}.${DEFAULT_IDENTITY_DOMAIN}`,
      };
    };
    const tls = await tlsOf(AUDIENCE);
    const server = createGrpcServer({ services, host: '127.0.0.1', port: 0, tls, ...(actors && { actors }) });
    const { port } = await server.start();
    const transport = createGrpcTransport({
      address: `127.0.0.1:${port}`,
      tls: await tlsOf('dashboard-api'),
    });
    return {
      transport,
      close: async () => {
        transport.close();
        await server.stop();
      },
    };
  },
};

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => (error instanceof RpcError ? error.failure : error),
  );

describe.each(Object.entries(TRANSPORTS))('a person, %s', (_name, open) => {
  let keys: SigningKeys;
  let opened: Served;
  const asserting = (assertion: string): CallOptions => ({ metadata: { [ASSERTION_HEADER]: assertion } });
  const signedBy = (own: SigningKeys, person: CallActor, { audience = AUDIENCE, offsetMs = 0 } = {}) =>
    createActorSigner({ keys: () => own, issuer: 'dashboard-api', clock: clockAt(offsetMs) }).sign(
      person,
      audience,
    );
  const addCredit = (options?: CallOptions) =>
    failureOf(createClient(BillingLedgerDefinition, opened.transport).addCredit(CREDIT, options));

  beforeAll(async () => {
    keys = await createSigningKeys(NOW);
    const publicKeys = publicKeysOf([keys]);
    opened = await open(
      createActorVerifier({ keys: () => publicKeys, audience: AUDIENCE, clock: clockAt(0) }),
    );
  });
  afterAll(() => opened.close());
  beforeEach(() => void served.splice(0));
  afterEach(() => expect(served.filter(({ actor }) => actor?.id === 'system')).toEqual([]));

  it('reaches the handler as the assertion names them', async () => {
    expect(await addCredit(asserting(await signedBy(keys, OPERATOR)))).toBeUndefined();
    expect(served).toEqual([{ method: 'AddCredit', actor: OPERATOR }]);
  });

  it('is the one for whom an acting transport works', async () => {
    const signer = createActorSigner({ keys: () => keys, issuer: 'dashboard-api', clock: clockAt(0) });
    const transport = createActingTransport(opened.transport, { audience: AUDIENCE, signer });
    const client = createClient(BillingLedgerDefinition, transport);
    await actAs(OPERATOR, () => client.addCredit(CREDIT));
    const deadLetters = createClient(eventContracts.DeadLettersDefinition, transport);
    await actAs(OPERATOR, () => deadLetters.listGroups({}));
    expect(await failureOf(client.addCredit(CREDIT))).toBe('unauthenticated');
    expect(served).toEqual([
      { method: 'AddCredit', actor: OPERATOR },
      { method: 'ListGroups', actor: undefined },
    ]);
  });

  describe('is refused without a call of the handler', () => {
    afterEach(() => expect(served).toEqual([]));

    it.each<[string, () => Promise<CallOptions | undefined>]>([
      ['there is no assertion', async () => undefined],
      ['it is empty', async () => asserting('')],
      ['it is not an assertion', async () => asserting('operator')],
      [
        'another key signed it',
        async () => asserting(await signedBy(await createSigningKeys(NOW), OPERATOR)),
      ],
      ['it has expired', async () => asserting(await signedBy(keys, OPERATOR, { offsetMs: -120_000 }))],
      [
        'it is for another service',
        async () => asserting(await signedBy(keys, OPERATOR, { audience: 'auth' })),
      ],
      [
        'it names the gateway itself',
        async () => asserting(await signedBy(keys, { ...OPERATOR, id: 'system' })),
      ],
      [
        'it was changed',
        async () => {
          const [header, payload = '', signature] = (await signedBy(keys, ADMIN)).split('.');
          const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
          const changed = Buffer.from(JSON.stringify({ ...claims, role: 'operator' })).toString('base64url');
          return asserting(`${header}.${changed}.${signature}`);
        },
      ],
    ])('if %s: unauthenticated', async (_what, options) => {
      expect(await addCredit(await options())).toBe('unauthenticated');
    });

    it('in an organization that the assertion does not cover, operators included', async () => {
      for (const organization of [{ id: 'org-2' }, undefined]) {
        const { organization: _own, ...person } = OPERATOR;
        const assertion = await signedBy(keys, { ...person, ...(organization && { organization }) });
        expect(await addCredit(asserting(assertion))).toBe('permission_denied');
      }
    });

    it('without the permission, whatever their role elsewhere', async () => {
      expect(await addCredit(asserting(await signedBy(keys, ADMIN)))).toBe('permission_denied');
      const admin = createClient(adminContracts.AdminDefinition, opened.transport);
      const changeKeys = async (person: ActingPerson) =>
        failureOf(admin.change(OF_KEYS, asserting(await signedBy(keys, person))));
      const member: ActingPerson = { ...ADMIN, organization: { id: 'org-1', role: 'member' } };
      const elsewhere: ActingPerson = { ...ADMIN, organization: { id: 'org-2', role: 'owner' } };
      expect(await changeKeys(member)).toBe('permission_denied');
      expect(await changeKeys(elsewhere)).toBe('permission_denied');
    });

    it('who reads entries of the audit log of every organization, unless they are an operator', async () => {
      const client = createClient(auditContracts.AuditLogDefinition, opened.transport);
      const page = { pageSize: 0, pageToken: '' };
      const assertion = asserting(await signedBy(keys, ADMIN));
      expect(await failureOf(client.listAudit(page, assertion))).toBe('permission_denied');
    });
  });

  it('acts in the organization of their role', async () => {
    const admin = createClient(adminContracts.AdminDefinition, opened.transport);
    const assertion = asserting(await signedBy(keys, ADMIN));
    expect(await failureOf(admin.change(OF_KEYS, assertion))).toBeUndefined();
  });

  it('is needed by every method with a permission, and by no other', async () => {
    const outcomes: Record<string, unknown> = {};
    for (const definition of DEFINITIONS) {
      const client = createClient(definition, opened.transport) as Record<
        string,
        (request: unknown) => Promise<unknown>
      >;
      for (const [name, { name: method, requestType, responseStream }] of Object.entries(
        definition.methods,
      )) {
        const rpc = `${definition.fullName}/${method}`;
        if (responseStream || !callersOf(rpc).includes('dashboard-api')) continue;
        outcomes[rpc] = await failureOf(
          client[name]?.(requestType.decode(new Uint8Array())) as Promise<unknown>,
        );
      }
    }
    for (const [rpc, outcome] of Object.entries(outcomes)) {
      const wanted = Object.hasOwn(PERMISSIONS, rpc) ? 'unauthenticated' : undefined;
      expect({ rpc, outcome }).toEqual({ rpc, outcome: wanted });
    }
    expect(Object.keys(outcomes).sort()).toEqual(CALLABLE);
  });

  it('may be a management token, which the handler sees as one', async () => {
    const token: CallActor = tokenFor('read_write', OPERATOR);
    expect(await addCredit(asserting(await signedBy(keys, token)))).toBeUndefined();
    expect(served).toEqual([{ method: 'AddCredit', actor: token }]);
  });

  it.each(['read', 'read_write'] as const)(
    'with a token of access %s changes only with read_write',
    async (access) => {
      const organization = { id: 'org-1', role: 'owner' } as const;
      const person: ActingPerson = { ...OPERATOR, organization };
      const assertion = asserting(await signedBy(keys, tokenFor(access, person)));
      const outcomes: Record<string, string> = {};
      for (const definition of DEFINITIONS) {
        const client = createClient(definition, opened.transport) as Record<
          string,
          (request: unknown, options: CallOptions) => Promise<unknown>
        >;
        for (const [name, { name: method, requestType, responseStream }] of Object.entries(
          definition.methods,
        )) {
          const rpc = `${definition.fullName}/${method}`;
          if (responseStream || !Object.hasOwn(PERMISSIONS, rpc)) continue;
          if (!callersOf(rpc).includes('dashboard-api')) continue;
          const request = requestType.decode(new Uint8Array()) as { organizationId?: string };
          const inOrganization =
            request.organizationId === '' ? { ...request, organizationId: 'org-1' } : request;
          const failure = await failureOf(client[name]?.(inOrganization, assertion) as Promise<unknown>);
          outcomes[rpc] = failure === undefined ? 'admitted' : String(failure);
        }
      }
      for (const [rpc, outcome] of Object.entries(outcomes)) {
        const isRefused = access === 'read' && Object.hasOwn(AUDITED, rpc);
        expect({ rpc, outcome }).toEqual({ rpc, outcome: isRefused ? 'permission_denied' : 'admitted' });
      }
      expect(Object.keys(outcomes).sort()).toEqual(CALLABLE.filter((rpc) => Object.hasOwn(PERMISSIONS, rpc)));
    },
  );

  it('needs what the message says, where the contract leaves it to the message', async () => {
    const admin = createClient(adminContracts.AdminDefinition, opened.transport);
    const read = (endpoint: string, options?: CallOptions) =>
      failureOf(admin.read({ endpoint, organizationId: 'org-1', inputJson: '' }, options));
    const member: ActingPerson = { ...ADMIN, organization: { id: 'org-1', role: 'member' } };
    expect(await read('of anyone')).toBeUndefined();
    expect(await read('of keys')).toBe('unauthenticated');
    expect(await read('of keys', asserting(await signedBy(keys, member)))).toBe('permission_denied');
    expect(await read('of keys', asserting(await signedBy(keys, ADMIN)))).toBeUndefined();
    expect(await read('of a later version', asserting(await signedBy(keys, ADMIN)))).toBe('unimplemented');
    expect(served).toEqual([
      { method: 'Read', actor: undefined },
      { method: 'Read', actor: ADMIN },
    ]);
  });

  it('is admitted by no service without keys', async () => {
    const { transport, close } = await open();
    const client = createClient(BillingLedgerDefinition, transport);
    const assertion = asserting(await signedBy(keys, OPERATOR));
    expect(await failureOf(client.addCredit(CREDIT, assertion))).toBe('unauthenticated');
    await close();
    expect(served).toEqual([]);
  });
});

it('every method for dashboard-api or demo declares a known permission, or what decides instead', () => {
  const forPeople = Object.entries(CALLERS)
    .filter(([, callers]) => callers.some((caller) => ADMIN_CALLERS.has(caller)))
    .map(([rpc]) => rpc);
  expect([...Object.keys(PERMISSIONS), ...Object.keys(WITHOUT_PERSON)].sort()).toEqual(forPeople.sort());
  const unknown = Object.values(PERMISSIONS).filter(
    (name) => !['signed_in', 'authenticated', 'endpoint'].includes(name) && !isPermission(name),
  );
  expect(unknown).toEqual([]);
});

it('the methods without a person are these', () => {
  expect(Object.keys(WITHOUT_PERSON).map((rpc) => rpc.split('/')[1])).toEqual([
    'VerifyKey',
    'ListGroups',
    'ListDeadLetters',
    'WatchCatalogue',
  ]);
});

it('calls whose contract leaves the permission to the message are refused by a service that reads none', async () => {
  const service = { ...recordingService(adminContracts.AdminDefinition), accessOf: undefined };
  const transport = createInProcessTransport([service], { actors: { verify: async () => OPERATOR } });
  const admin = createClient(adminContracts.AdminDefinition, transport);
  const options = { metadata: { [ASSERTION_HEADER]: 'an assertion' } };
  const request = { endpoint: '', organizationId: 'org-1', inputJson: '' };
  expect(await failureOf(admin.read(request, options))).toBe('permission_denied');
});
