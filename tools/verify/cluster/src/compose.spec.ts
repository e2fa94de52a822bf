import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { ZodObject } from 'zod';
import { DATABASES, SERVICE_NAMES, SERVICES, type ServiceName } from './services';

interface ComposeService {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly scale?: number;
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly volumes?: readonly (
    string | { readonly source: string; readonly volume?: { readonly subpath: string } }
  )[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
}

const root = path.resolve(__dirname, '../../../..');
const text = readFileSync(path.join(root, 'deploy/compose.yaml'), 'utf8');
const file = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(file.services);

/** Variables of .env.example, with a generated value for each empty one. */
const variables = new Map(
  [...readFileSync(path.join(root, 'deploy/.env.example'), 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(
    ([, name = '', value]) => [name, value || Buffer.alloc(32, name).toString('base64').replaceAll('/', 'a')],
  ),
);
const VARIABLE = /\$\{([A-Z_]+)(:\?|:-([^}]*))?\}/g;

function substituteVariables(value: string): string {
  return value.replace(VARIABLE, (_, name: string) => variables.get(name) ?? '');
}

/** The program of one of the project's images; undefined for a datastore. */
function programOf({ image }: ComposeService): string | undefined {
  return /^\$\{GATEWAY_IMAGES[^/]*\/([a-z-]+):\$\{GATEWAY_TAG/.exec(image)?.[1];
}

/** The short form of mounts: `source:target[:ro]`. */
function shortMounts({ volumes = [] }: ComposeService): string[] {
  return volumes.filter((volume) => typeof volume === 'string');
}

const ours = services.filter(([, service]) => programOf(service) !== undefined);
const withSettings = ours.flatMap(([name, service]) => {
  const app = SERVICE_NAMES.find((each) => each === programOf(service));
  return app === undefined ? [] : [{ name, service, app }];
});
const running = withSettings.filter(({ service }) => service.command === undefined);

async function settingsOf(app: ServiceName): Promise<ZodObject> {
  const { settings } = (await import(path.join(root, 'apps', app, 'src/config'))) as { settings: ZodObject };
  return settings;
}

describe('deploy/compose.yaml', () => {
  it('runs every service, in as many replicas as `npm run cluster`', () => {
    const replicas = Object.fromEntries(
      SERVICE_NAMES.map((app) => {
        const found = running.filter((one) => one.app === app);
        return [app, found.reduce((sum, { service }) => sum + (service.scale ?? 1), 0)];
      }),
    );
    expect(replicas).toEqual(Object.fromEntries(SERVICE_NAMES.map((app) => [app, SERVICES[app].replicas])));
  });

  it.each(withSettings)(
    '$name gets all required settings of $app, and no unknown ones',
    async ({ service, app }) => {
      const settings = await settingsOf(app);
      const settingsGiven = Object.fromEntries(
        Object.entries(service.environment ?? {}).map(([name, value]) => [name, substituteVariables(value)]),
      );
      expect(Object.keys(settingsGiven).filter((name) => !(name in settings.shape))).toEqual([]);
      // Missing or invalid settings.
      expect(settings.safeParse(settingsGiven).error?.issues ?? []).toEqual([]);
    },
  );

  it('connects to existing services at their ports', async () => {
    const names = new Set(
      services.flatMap(([name, { networks }]) => [name, ...(networks?.default.aliases ?? [])]),
    );
    const targets = withSettings.flatMap(({ service }) =>
      Object.entries(service.environment ?? {})
        .filter(([name]) => name.endsWith('_TARGET') || name === 'KAFKA_BROKERS')
        .map(([, value]) => value),
    );
    const hosts = withSettings.flatMap(({ service }) =>
      Object.values(service.environment ?? {}).flatMap((value) => /@([a-z-]+):\d+/.exec(value)?.[1] ?? []),
    );
    expect(targets.length).toBeGreaterThan(0);
    expect(hosts.length).toBeGreaterThan(0);
    const called = targets.map((target) => target.split(':'));
    expect([...called.map(([host = '']) => host), ...hosts].filter((host) => !names.has(host))).toEqual([]);
    const { GATEWAY_RPC_PORT: port, GATEWAY_RPC_ADMIN_PORT: adminPort } = (await settingsOf('auth')).shape;
    const rpcPorts = [port, adminPort].map((setting) => String(setting?.parse(undefined)));
    expect(called.filter(([host, at = '']) => host !== 'kafka' && !rpcPorts.includes(at))).toEqual([]);
    const ofDashboard = Object.entries(file.services['dashboard-api']?.environment ?? {});
    const adminTargets = ofDashboard.filter(([name]) => name.endsWith('_TARGET'));
    expect(adminTargets.filter(([, value]) => !value.endsWith(`:${rpcPorts[1]}`))).toEqual([]);
  });

  it('gives each service its own certificate, and no other', () => {
    for (const { service, app } of running) {
      const mounted = (service.volumes ?? []).filter(
        (volume) => typeof volume !== 'string' && volume.source === 'certificates',
      );
      expect([app, mounted]).toEqual([app, [expect.objectContaining({ volume: { subpath: app } })]]);
    }
  });

  it('runs every container of the project with minimal privileges', () => {
    expect(ours.length).toBeGreaterThan(SERVICE_NAMES.length);
    for (const [name, service] of ours) {
      const { read_only, cap_drop, security_opt } = service;
      expect([name, { read_only, cap_drop, security_opt }]).toEqual([
        name,
        { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      ]);
    }
  });

  it('gives running requests the grace period to finish, and only generations more than 30 seconds', async () => {
    for (const { app, service } of running) {
      const { GATEWAY_SHUTDOWN_GRACE_MS: grace } = (await settingsOf(app)).shape;
      const stopSeconds = Number.parseInt(service.stop_grace_period ?? '0', 10);
      expect([app, stopSeconds]).toEqual([app, Number(grace?.parse(undefined)) / 1_000 + 15]);
      expect([app, stopSeconds > 30]).toEqual([app, ['edge-proxy', 'inference-router'].includes(app)]);
    }
  });

  it("stores each router's spool in a separate volume", () => {
    const spools = running
      .filter(({ app }) => app === 'inference-router')
      .map(({ service }) => shortMounts(service).find((volume) => volume.endsWith(':/var/lib/gateway')));
    expect(new Set(spools).size).toBe(SERVICES['inference-router'].replicas);
    expect(Object.keys(file.volumes)).toEqual(
      expect.arrayContaining(spools.map((volume) => volume?.split(':')[0])),
    );
  });

  it('applies migrations before starting each service with a database', () => {
    for (const { service } of running.filter(({ service }) => service.environment?.DATABASE_URL)) {
      const first = Object.keys(service.depends_on ?? {}).filter((name) => name.startsWith('migrate-'));
      expect(first).toHaveLength(1);
      const migration = file.services[first[0] ?? ''];
      expect(migration?.command).toEqual(['migrate']);
      expect(migration?.environment?.DATABASE_URL).toBe(service.environment?.DATABASE_URL);
    }
  });

  it('creates a database for each domain', () => {
    const script = readFileSync(path.join(root, 'deploy/postgres/create-databases.sh'), 'utf8');
    const created = [...script.matchAll(/^create (\w+) "\$(\w+)"$/gm)];
    expect(created.map(([, database]) => database)).toEqual([...DATABASES]);
    const given = Object.keys(file.services.postgres?.environment ?? {});
    expect(given).toEqual(expect.arrayContaining(created.map(([, , password]) => password)));
  });

  it('contains no secret, and .env.example lists exactly the used variables', () => {
    const used = new Set([...text.matchAll(VARIABLE)].map(([, name]) => name));
    expect([...variables.keys()].sort()).toEqual([...used].sort());
    const secrets = [...text.matchAll(/(?:PASSWORD|SECRETS_KEY|REDISCLI_AUTH): (.*)$/gm)].map(
      ([, value]) => value,
    );
    expect(secrets.length).toBeGreaterThan(0);
    expect(secrets.filter((value) => !/^\$\{[A-Z_]+:\?\}$/.test(value ?? ''))).toEqual([]);
  });

  it('has a guide that generates values which the settings accept', async () => {
    const guide = readFileSync(path.join(root, 'docs/how-to/run-with-compose.md'), 'utf8');
    const commands = [...guide.matchAll(/`openssl rand -(hex|base64) (\d+)`/g)];
    const [password, key] = commands.map(([, encoding, bytes]) =>
      Buffer.alloc(Number(bytes), 7).toString(encoding as BufferEncoding),
    );
    expect(password).toMatch(/^[a-z0-9]+$/);
    const { GATEWAY_SECRETS_KEY: setting } = (await settingsOf('auth')).shape;
    expect(setting?.safeParse(key).error?.issues ?? []).toEqual([]);
    expect(key).toBeDefined();
  });

  it('mounts files that exist', () => {
    const mounted = services.flatMap(([, service]) =>
      shortMounts(service)
        .filter((volume) => volume.startsWith('.'))
        .map((volume) => volume.split(':')[0] ?? ''),
    );
    expect(mounted.length).toBeGreaterThan(0);
    expect(mounted.filter((each) => !existsSync(path.join(root, 'deploy', each)))).toEqual([]);
  });
});
