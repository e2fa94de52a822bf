import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@gateway/cluster';
import { RELEASE_SELECTOR, type Release } from './release';
import { runProgram } from './run-program';

interface Bundle {
  readonly processes: readonly {
    readonly pod: string;
    readonly live?: unknown;
    readonly settings?: object;
  }[];
  readonly logs: readonly { readonly file: string; readonly lines: readonly unknown[] }[];
}

interface SecretObject {
  readonly type: string;
  readonly data?: Readonly<Record<string, string>>;
}

const LIVE = 200;
/** Shorter values occur in any text. */
const MIN_SECRET_LENGTH = 6;

/** Collects a support bundle like an operator, and searches it for the namespace's secrets. */
export async function supportBundle(root: string, release: Release): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-support-bundle-'));
  try {
    return await checkBundle(await collect(root, release, path.join(folder, 'bundle.json')), release);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function collect(root: string, { cluster }: Release, output: string): Promise<string> {
  await runProgram(process.execPath, [
    path.join(root, 'tools/commands/support-bundle.mjs'),
    ...['--context', cluster.context, '--namespace', cluster.namespace],
    ...['--pods', RELEASE_SELECTOR, '--output', output],
  ]);
  return readFileSync(output, 'utf8');
}

async function checkBundle(text: string, release: Release): Promise<string> {
  const { processes, logs } = JSON.parse(text) as Bundle;
  const pods = (await release.pods()).filter(({ component }) =>
    SERVICE_NAMES.some((name) => name === component),
  );
  for (const { name } of pods) {
    const report = processes.find(({ pod }) => pod === name);
    if (report?.live !== LIVE || Object.keys(report.settings ?? {}).length === 0)
      throw new Error(`no report of ${name}: ${JSON.stringify(report)}`);
    if (!logs.some(({ file, lines }) => file === name && lines.length > 0))
      throw new Error(`no log lines of ${name}`);
  }
  const { items } = JSON.parse(await release.cluster.kubectl('get', 'secrets', '--output', 'json')) as {
    items: SecretObject[];
  };
  // Helm stores its releases as secrets, too.
  const secrets = items
    .filter(({ type }) => !type.startsWith('helm.sh/'))
    .flatMap(({ data }) => Object.entries(data ?? {}))
    .map(([key, value]) => ({ key, value: Buffer.from(value, 'base64').toString('utf8') }))
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH);
  const leaked = secrets.filter(({ value }) => text.includes(JSON.stringify(value).slice(1, -1)));
  if (leaked.length > 0)
    throw new Error(`the bundle contains secrets:  ${leaked.map(({ key }) => key).join(', ')}`);
  return `reports of ${pods.length} pods, none of ${secrets.length} secrets`;
}
