import { toAbortSignal } from '@gateway/base';
import { createHash } from 'node:crypto';
import { createAdminClient } from '@gateway/admin-calls';
import { stubsOf } from '@gateway/admin-calls/testing';
import { AUTH_SCHEMA, authSchema, createAuthAdapters, createAuthModule } from '@gateway/auth';
import { AuthAdminDefinition, AuthDefinition, MemberRole } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { applyMigrations, createPool } from '@gateway/database';
import { createKeyDirectory } from '@gateway/edge-proxy';
import { GatewayError } from '@gateway/errors';
import {
  createClient,
  createInProcessTransport,
  type MessageTransport,
  type RpcTransport,
  type TransportCall,
} from '@gateway/rpc';
import { createGrpcServer, createGrpcTransport } from '@gateway/rpc/grpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import {
  actingFor,
  announceSeed,
  createTestDatabase,
  seededRandom,
  TEST_OPERATOR,
  type SeededRandom,
  unsignedActors,
} from '@gateway/test-support';

const sha256 = (secret: string) => createHash('sha256').update(secret).digest();

/** A network between an edge and auth with injectable faults. */
class Network {
  /** Drops the watch and its renewals without an error; lookups still pass. */
  dropsWatch = false;
  /** Fails every call. */
  down = false;
  readonly calls: Record<string, number> = {};
  delay: (call: TransportCall) => Promise<void> = () => Promise.resolve();

  constructor(private readonly replicas: () => MessageTransport) {}

  get carries(): MessageTransport['carries'] {
    return this.replicas().carries;
  }

  async unary(call: TransportCall): Promise<unknown> {
    this.calls[call.method] = (this.calls[call.method] ?? 0) + 1;
    if (this.down) throw new Error('the network is down');
    if (this.dropsWatch && call.method === 'RenewLease') return drop(call);
    await this.pass(call);
    const response = await this.replicas().unary(call);
    await this.pass(call);
    if (this.dropsWatch && call.method === 'RenewLease') return drop(call);
    return response;
  }

  readonly serverStream: MessageTransport['serverStream'] = (call, reader) => {
    if (this.down) throw new Error('the network is down');
    const fail = (error: unknown): void => {
      stream?.cancel();
      reader.end(error as Error);
    };
    const stream = this.dropsWatch
      ? void drop(call).catch(fail)
      : this.replicas().serverStream(call, {
          message: (message, cost) =>
            void this.passMessage(call).then(() => reader.message(message, cost), fail),
          end: (error) => reader.end(error),
        });
    return stream ?? { read: () => undefined, cancel: () => undefined };
  };

  private async passMessage(call: TransportCall): Promise<void> {
    await this.pass(call);
    if (this.down) throw new Error('the network is down');
    if (this.dropsWatch) await drop(call);
  }

  /** Delays a call, but not beyond its timeout. */
  private async pass(call: TransportCall): Promise<void> {
    const passed = new AbortController();
    const signal = call.signal ? AbortSignal.any([toAbortSignal(call.signal), passed.signal]) : passed.signal;
    const dropped = drop({ ...call, signal });
    dropped.catch(() => undefined);
    await Promise.race([this.delay(call), dropped]).finally(() => passed.abort());
  }
}

function drop({ signal, timeoutMs }: TransportCall): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (timeoutMs !== undefined) setTimeout(() => reject(new Error('no response')), timeoutMs).unref();
  });
}

interface FleetOptions {
  readonly leaseMs: number;
  readonly replicas?: number;
  readonly rpc?: 'in process' | 'gRPC';
}

async function createFleet({ leaseMs, replicas = 1, rpc = 'in process' }: FleetOptions) {
  const database = await createTestDatabase();
  const log = createSilentLogger();
  const pools = Array.from({ length: replicas }, () =>
    createPool({ url: database.url, schema: AUTH_SCHEMA, applicationName: 'test', maxConnections: 8 }),
  );
  const [firstPool] = pools;
  if (!firstPool) throw new Error('a fleet has at least one replica');
  await applyMigrations(firstPool, authSchema);
  const modules = pools.map((pool) =>
    createAuthModule({
      adapters: createAuthAdapters({ pool, clock: systemClock, log, scryptCost: { N: 16, r: 1, p: 1 } }),
      clock: systemClock,
      newId,
      log,
      metrics: createMetrics({ processMetrics: false }),
      endpoints: stubsOf(Object.values(endpoints.notifications)),
      settings: { leaseMs },
    }),
  );
  for (const module of modules) await module.start();
  const closing: (() => Promise<void>)[] = [];
  const transports = await Promise.all(
    modules.map(async ({ services }): Promise<RpcTransport> => {
      if (rpc === 'in process') return createInProcessTransport(services, { actors: unsignedActors });
      const server = createGrpcServer({ services, host: '127.0.0.1', port: 0, actors: unsignedActors });
      const { port } = await server.start();
      const transport = createGrpcTransport({ address: `127.0.0.1:${port}` });
      closing.push(async () => {
        await server.stop();
        transport.close();
      });
      return transport;
    }),
  );
  const replica = (index: number): RpcTransport => {
    const transport = transports[index % transports.length];
    if (!transport) throw new Error('no replica');
    return transport;
  };
  let operator = TEST_OPERATOR;
  const clients = transports.map((transport) => createAdminClient(actingFor(transport, () => operator)));
  const admin = createClient(
    AuthAdminDefinition,
    actingFor(replica(0), () => operator),
  );
  const { member } = await admin.ensureMember({
    email: operator.label,
    password: 'correct horse battery',
    role: MemberRole.MEMBER_ROLE_OPERATOR,
    resetPassword: false,
  });
  operator = { ...operator, id: member?.id ?? '' };
  const edges: ReturnType<typeof createKeyDirectory>[] = [];

  const client = clients[0] as (typeof clients)[number];
  const created = await client.call(endpoints.organizations.create, { body: { name: 'Acme' } });
  const organizationId = created.organization.id;
  operator = { ...operator, organization: { id: organizationId } };
  const inOrganization = { organization_id: organizationId };
  const keyParams = (keyId: string) => ({ ...inOrganization, key_id: keyId });

  return {
    clients,
    client,
    replica,
    organizationId,

    edge(pick: () => number = () => 0) {
      // Carries messages or bytes, as the replicas do.
      const network = new Network(() => replica(pick()) as MessageTransport);
      const directory = createKeyDirectory({
        auth: createClient(AuthDefinition, network),
        edgeId: newId('edge'),
        clock: systemClock,
        log,
        metrics: createMetrics({ processMetrics: false }),
        maxCachedKeys: 100,
      });
      edges.push(directory);
      directory.start();
      return { directory, network };
    },

    async key() {
      const body = { name: 'key', scopes: ['chat' as const] };
      const created = await client.call(endpoints.keys.create, { params: inOrganization, body });
      return { id: created.key.id, hash: sha256(created.secret) };
    },

    /** Returns the hash of the new secret. Without a time, the previous secret expires immediately. */
    async rotate(keyId: string, previousWorksUntil?: number) {
      const until = previousWorksUntil === undefined ? null : new Date(previousWorksUntil).toISOString();
      const rotation = { params: keyParams(keyId), body: { previous_works_until: until } };
      return sha256((await client.call(endpoints.keys.rotate, rotation)).secret);
    },

    endPreviousSecret: (keyId: string) =>
      client.call(endpoints.keys.endPreviousSecret, { params: keyParams(keyId), body: {} }),

    revoke: (keyId: string, by = client, signal?: AbortSignal) =>
      by.call(endpoints.keys.revoke, { params: keyParams(keyId), body: {} }, signal && { signal }),

    async stop() {
      for (const edge of edges) await edge.stop();
      for (const close of closing) await close();
      for (const module of modules) await module.stop();
      for (const pool of pools) await pool.end();
      await database.drop();
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('revocation takes effect immediately on every edge', () => {
  const fleets: Awaited<ReturnType<typeof createFleet>>[] = [];

  async function fleetOf(options: FleetOptions) {
    const fleet = await createFleet(options);
    fleets.push(fleet);
    return fleet;
  }
  afterEach(async () => {
    for (const fleet of fleets.splice(0)) await fleet.stop();
  });

  it.each(['in process', 'gRPC'] as const)(
    'with two edges, known keys come from the cache, and a revocation does not wait for a lease (%s)',
    async (rpc) => {
      // The lease is far longer than the test, so the revocation must rely on acknowledgements.
      const fleet = await fleetOf({ leaseMs: 600_000, replicas: 2, rpc });
      const near = fleet.edge(() => 0);
      const far = fleet.edge(() => 1);
      await until(() => near.directory.hasValidLease() && far.directory.hasValidLease());
      const key = await fleet.key();
      for (const { directory } of [near, far, near, far]) {
        expect(await directory.lookup(key.hash)).toMatchObject({ keyId: key.id, revoked: false });
      }
      expect(near.network.calls['VerifyKey']).toBe(1);
      expect(far.network.calls['VerifyKey']).toBe(1);

      await fleet.revoke(key.id);
      for (const { directory } of [near, far]) {
        expect(await directory.lookup(key.hash)).toMatchObject({ revoked: true });
      }
    },
  );

  it.each(['in process', 'gRPC'] as const)(
    'every edge knows the secrets of a rotated key when the rotation returns (%s)',
    async (rpc) => {
      const fleet = await fleetOf({ leaseMs: 600_000, replicas: 2, rpc });
      const edges = [fleet.edge(() => 0), fleet.edge(() => 1)];
      await until(() => edges.every(({ directory }) => directory.hasValidLease()));
      const first = await fleet.key();
      const lookUp = (hash: Buffer) => Promise.all(edges.map(({ directory }) => directory.lookup(hash)));
      const asKey = expect.objectContaining({ keyId: first.id, secretEndsUnixMs: undefined });
      expect(await lookUp(first.hash)).toEqual([asKey, asKey]);

      const until10 = Date.now() + 10 * 60_000;
      const second = await fleet.rotate(first.id, until10);
      const asPrevious = expect.objectContaining({ keyId: first.id, secretEndsUnixMs: BigInt(until10) });
      expect(await lookUp(first.hash)).toEqual([asPrevious, asPrevious]);
      expect(await lookUp(second)).toEqual([asKey, asKey]);

      await fleet.endPreviousSecret(first.id);
      expect(await lookUp(first.hash)).toEqual([undefined, undefined]);
      expect(await lookUp(second)).toEqual([asKey, asKey]);

      const third = await fleet.rotate(first.id);
      expect(await lookUp(second)).toEqual([undefined, undefined]);
      expect(await lookUp(third)).toEqual([asKey, asKey]);
    },
  );

  it('waits for the lease of a disconnected edge, which then calls auth', async () => {
    const fleet = await fleetOf({ leaseMs: 400 });
    const near = fleet.edge();
    const cutOff = fleet.edge();
    await until(() => near.directory.hasValidLease() && cutOff.directory.hasValidLease());
    const key = await fleet.key();
    await near.directory.lookup(key.hash);
    await cutOff.directory.lookup(key.hash);
    const callsBefore = cutOff.network.calls['VerifyKey'] ?? 0;

    cutOff.network.dropsWatch = true;
    await fleet.revoke(key.id);
    expect(await near.directory.lookup(key.hash)).toMatchObject({ revoked: true });
    expect(await cutOff.directory.lookup(key.hash)).toMatchObject({ revoked: true });
    expect(cutOff.network.calls['VerifyKey']).toBeGreaterThan(callsBefore);
    expect(cutOff.directory.hasValidLease()).toBe(false);
  });

  it('fails rather than using stale entries when auth is unreachable', async () => {
    const fleet = await fleetOf({ leaseMs: 300 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();
    await directory.lookup(key.hash);
    network.dropsWatch = true;
    network.down = true;
    await fleet.revoke(key.id);
    await expect(directory.lookup(key.hash)).rejects.toThrow('the network is down');
  });

  it('does not wait forever for an edge that renews its lease but receives no invalidations', async () => {
    const fleet = await fleetOf({ leaseMs: 300 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();
    await directory.lookup(key.hash);
    // Invalidations are lost from now on, while renewals succeed.
    network.delay = ({ method }) =>
      method === 'WatchInvalidations' ? new Promise(() => undefined) : Promise.resolve();
    await fleet.revoke(key.id);
    expect(await directory.lookup(key.hash)).toMatchObject({ revoked: true });
  });

  it('caches again, starting empty, after a disconnect', async () => {
    const fleet = await fleetOf({ leaseMs: 300 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();
    await directory.lookup(key.hash);
    network.dropsWatch = true;
    await until(() => !directory.hasValidLease());
    network.dropsWatch = false;
    await until(() => directory.hasValidLease());
    const callsBefore = network.calls['VerifyKey'] ?? 0;
    await directory.lookup(key.hash);
    await directory.lookup(key.hash);
    expect(network.calls['VerifyKey']).toBe(callsBefore + 1);
  });

  it('never caches a response that was in flight during the revocation of its key', async () => {
    const fleet = await fleetOf({ leaseMs: 600_000 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();

    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let passes = 0;
    // The request passes; its response is delayed.
    network.delay = async ({ method }) => {
      if (method === 'VerifyKey' && (passes += 1) === 2) await held;
    };
    const early = directory.lookup(key.hash);
    await until(() => passes === 2);
    await fleet.revoke(key.id);
    const late = directory.lookup(key.hash);
    expect(await late).toMatchObject({ revoked: true });
    release();
    expect(await early).toMatchObject({ revoked: false });
    expect(await directory.lookup(key.hash)).toMatchObject({ revoked: true });
  });

  it('never caches a response that was in flight during the suspension of its organization', async () => {
    const fleet = await fleetOf({ leaseMs: 600_000 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();
    const cachedKey = await fleet.key();
    await directory.lookup(cachedKey.hash);

    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let passes = 0;
    network.delay = async ({ method }) => {
      if (method === 'VerifyKey' && (passes += 1) === 2) await held;
    };
    const early = directory.lookup(key.hash);
    await until(() => passes === 2);
    const { organizationId } = fleet;
    const target = { params: { organization_id: organizationId }, body: {} };
    await fleet.client.call(endpoints.organizations.suspend, target);
    release();
    await early;
    for (const { hash } of [key, cachedKey]) {
      expect(await directory.lookup(hash)).toMatchObject({ organizationSuspended: true });
    }
  });

  it('shares one call among concurrent lookups of a key', async () => {
    const fleet = await fleetOf({ leaseMs: 600_000 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();
    const patient = Array.from({ length: 50 }, () => directory.lookup(key.hash));
    const abort = new AbortController();
    const impatient = directory.lookup(key.hash, { signal: abort.signal });
    abort.abort(new Error('disconnected'));
    await expect(impatient).rejects.toThrow('disconnected');
    for (const grant of await Promise.all(patient)) expect(grant?.keyId).toBe(key.id);
    expect(network.calls['VerifyKey']).toBe(1);
  });

  it('a new key works immediately, even where unknown keys are cached', async () => {
    const fleet = await fleetOf({ leaseMs: 600_000 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    expect(await directory.lookup(sha256('sk-gw-made-up'))).toBeUndefined();
    expect(await directory.lookup(sha256('sk-gw-made-up'))).toBeUndefined();
    expect(network.calls['VerifyKey']).toBe(1);
    const key = await fleet.key();
    expect(await directory.lookup(key.hash)).toMatchObject({ keyId: key.id });
  });

  it('a repeated revocation returns only when the first has taken effect', async () => {
    const fleet = await fleetOf({ leaseMs: 400 });
    const { directory, network } = fleet.edge();
    await until(() => directory.hasValidLease());
    const key = await fleet.key();
    await directory.lookup(key.hash);
    network.dropsWatch = true;
    const abort = new AbortController();
    const first = fleet.revoke(key.id, fleet.client, abort.signal);
    const second = fleet.revoke(key.id);
    abort.abort(new Error('disconnected'));
    await expect(first).rejects.toBeDefined();
    await second;
    expect(await directory.lookup(key.hash)).toMatchObject({ revoked: true });
  });
});

describe('any interleaving', () => {
  const LEASE_MS = 500;
  const EDGES = 3;
  const KEYS = 20;

  it('no lookup that starts after RevokeKey has returned is granted, under any faults and delays', async () => {
    await announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const fleet = await createFleet({ leaseMs: LEASE_MS, replicas: 2 });
      try {
        await simulate(fleet, random);
      } finally {
        await fleet.stop();
      }
    });
  });

  type Fleet = Awaited<ReturnType<typeof createFleet>>;
  type FleetKey = Awaited<ReturnType<Fleet['key']>>;
  type Edge = ReturnType<Fleet['edge']>;

  async function simulate(fleet: Fleet, random: SeededRandom) {
    const edges = Array.from({ length: EDGES }, () => fleet.edge(() => random.integer(0, 1)));
    for (const { network } of edges) {
      network.delay = () => pause(random.chance(0.05) ? random.integer(0, LEASE_MS) : random.integer(0, 5));
    }
    const keys = await Promise.all(Array.from({ length: KEYS }, () => fleet.key()));
    const revoked = new Set<string>();
    const violations: string[] = [];
    const lookups: Promise<void>[] = [];
    let cached = 0;
    let done = false;

    /** Looks up a key and checks the result against the revocations at the start of the lookup. */
    const check = ({ directory, network }: Edge, key: FleetKey): Promise<void> => {
      const mustBeRevoked = revoked.has(key.id);
      const callsBefore = network.calls['VerifyKey'];
      const lookup = directory.lookup(key.hash);
      if (network.calls['VerifyKey'] === callsBefore) cached += 1;
      const checked = lookup.then(
        (grant) => {
          if (mustBeRevoked && !grant?.revoked) violations.push(key.id);
        },
        () => undefined,
      );
      lookups.push(checked);
      return checked;
    };
    const lookUpRepeatedly = async (edge: Edge): Promise<void> => {
      while (!done) {
        const checked = check(edge, random.pick(keys));
        if (random.chance(0.3)) await checked;
        await pause(random.integer(0, 3));
      }
    };
    const injectFaults = async ({ network }: Edge): Promise<void> => {
      while (!done) {
        await pause(random.integer(50, 400));
        network.dropsWatch = random.chance(0.4);
        network.down = random.chance(0.15);
        await pause(random.integer(20, LEASE_MS));
        network.dropsWatch = false;
        network.down = false;
      }
    };
    /** Repeats the revocation while a busy database refuses it, as an operator would. */
    const revoke = async (keyId: string): Promise<void> => {
      for (;;) {
        const error = await fleet.revoke(keyId, random.pick(fleet.clients)).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error === undefined) return;
        if (!(error instanceof GatewayError) || error.code !== 'no_capacity') throw error;
      }
    };
    const revokeAll = async (): Promise<void> => {
      for (const key of random.shuffle(keys)) {
        await pause(random.integer(0, 150));
        // Cached, or in flight, at as many edges as possible during the revocation.
        for (const edge of edges) void check(edge, key);
        await pause(random.integer(0, 10));
        await revoke(key.id);
        revoked.add(key.id);
        await Promise.all(edges.map((edge) => check(edge, key)));
      }
    };

    const running = edges.flatMap((edge) => [
      lookUpRepeatedly(edge),
      lookUpRepeatedly(edge),
      injectFaults(edge),
    ]);
    await Promise.all([revokeAll(), revokeAll()]);
    done = true;
    await Promise.all(running);
    // Lookups in flight would otherwise reach a fleet that has stopped.
    await Promise.all(lookups);
    expect(violations).toEqual([]);
    // The test is only meaningful if edges have used their caches.
    expect(cached).toBeGreaterThan(KEYS);
  }

  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
});
