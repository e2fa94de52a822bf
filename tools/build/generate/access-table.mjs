// Reads the options of proto/gateway/access: who serves each service, who may call each method, and what a person needs.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
const BUF = path.join('node_modules', '@bufbuild', 'buf', 'bin', 'buf');

/** Runs buf in the root of the project and returns its output. */
export function buf(...args) {
  // buf's default cache is in the home folder, which a service account may not have.
  const env = { ...process.env, BUF_CACHE_DIR: path.join(root, 'node_modules', '.cache', 'buf') };
  return execFileSync(process.execPath, [BUF, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/**
 * By method, such as "gateway.auth.v1.Auth/VerifyKey": `callers`, and of methods that serve people `permissions` or
 * `withoutPerson`, and `audited`. `servers` by service. Throws when an option is missing.
 */
export function readAccess() {
  const { file } = JSON.parse(buf('build', '--exclude-source-info', '--output', '-#format=json').toString());
  const services = file
    // The health protocol of gRPC is open to every client; batched calls are checked one by one.
    .filter(({ package: name }) => name.startsWith('gateway.') && name !== 'gateway.rpc.v1')
    .flatMap(({ package: name, service = [] }) =>
      service.map((each) => ({ ...each, name: `${name}.${each.name}` })),
    );
  const methods = services.flatMap(({ name, method }) =>
    method.map((each) => ({ rpc: `${name}/${each.name}`, ...each })),
  );
  methods.forEach(requireOnePersonOption);
  const byMethod = (option) =>
    Object.fromEntries(
      methods.flatMap(({ rpc, options }) => {
        const value = options?.[extension(option)];
        return value === undefined ? [] : [[rpc, value]];
      }),
    );
  return {
    callers: Object.fromEntries(methods.map((method) => [method.rpc, callersOf(method)])),
    permissions: byMethod('permission'),
    withoutPerson: byMethod('without_person'),
    audited: byMethod('audited'),
    servers: Object.fromEntries(services.map((service) => [service.name, optionOf(service, 'servers')])),
  };
}

/** Services that act for people; `@gateway/contracts/callers` has the same set. */
const ADMIN_CALLERS = ['dashboard-api', 'demo'];

function requireOnePersonOption(method) {
  const given = ['permission', 'without_person'].filter((option) => method.options?.[extension(option)]);
  const wanted = callersOf(method).some((caller) => ADMIN_CALLERS.includes(caller)) ? 1 : 0;
  if (given.length === wanted) return;
  throw new Error(
    `${method.rpc} has ${given.length} of the options permission and without_person, not ${wanted}.`,
  );
}

/** A deprecated method may have none: it is closed. */
function callersOf(method) {
  return method.options?.deprecated ? [] : optionOf(method, 'callers');
}

/** The services that each service calls, sorted. */
export function callsBetween({ callers, servers }) {
  const calls = {};
  for (const [rpc, names] of Object.entries(callers)) {
    for (const caller of names) (calls[caller] ??= []).push(...servers[rpc.split('/')[0]]);
  }
  return Object.fromEntries(
    Object.keys(calls)
      .sort()
      .map((caller) => [caller, [...new Set(calls[caller])].sort()]),
  );
}

function extension(option) {
  return `[gateway.access.v1.${option}]`;
}

function optionOf({ name, options }, option) {
  const values = options?.[extension(option)] ?? [];
  if (values.length === 0) throw new Error(`${name} has no option (gateway.access.v1.${option}).`);
  return values;
}
