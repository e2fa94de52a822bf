// Reads the options of proto/gateway/access: who serves each service, and who may call each method.
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

/** `callers` by method, such as "gateway.auth.v1.Auth/VerifyKey", and `servers` by service. Throws when either is missing. */
export function readAccess() {
  const { file } = JSON.parse(buf('build', '--exclude-source-info', '--output', '-#format=json').toString());
  const services = file
    // The health protocol of gRPC is open to every client.
    .filter(({ package: name }) => name.startsWith('gateway.'))
    .flatMap(({ package: name, service = [] }) =>
      service.map((each) => ({ ...each, name: `${name}.${each.name}` })),
    );
  return {
    callers: Object.fromEntries(
      services.flatMap(({ name, method }) =>
        method.map((each) => [`${name}/${each.name}`, optionOf(each, 'callers')]),
      ),
    ),
    servers: Object.fromEntries(services.map((service) => [service.name, optionOf(service, 'servers')])),
  };
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

function optionOf({ name, options }, option) {
  const values = options?.[`[gateway.access.v1.${option}]`] ?? [];
  if (values.length === 0) throw new Error(`${name} has no option (gateway.access.v1.${option}).`);
  return values;
}
