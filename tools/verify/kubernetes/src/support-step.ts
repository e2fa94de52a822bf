import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@gateway/cluster';
import { OF_RELEASE, type Release } from './release';
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
/** Shorter ones are in every text. */
const MIN_SECRET_LENGTH = 6;

/** Collects a support bundle as an operator does, and looks for the namespace's secrets in it. */
export async function supportBundle(root: string, release: Release): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-support-bundle-'));
  try {
    return await judge(await collect(root, release, path.join(folder, 'bundle.json')), release);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function collect(root: string, { cluster }: Release, output: string): Promise<string> {
  await runProgram(process.execPath, [
    path.join(root, 'tools/commands/support-bundle.mjs'),
    ...['--context', cluster.context, '--namespace', cluster.namespace],
    ...['--pods', OF_RELEASE, '--output', output],
  ]);
  return readFileSync(output, 'utf8');
}

async function judge(text: string, release: Release): Promise<string> {
  const { processes, logs } = JSON.parse(text) as Bundle;
  const pods = (await release.pods()).filter(({ component }) =>
    SERVICE_NAMES.some((name) => name === component),
  );
  for (const { name } of pods) {
    const report = processes.find(({ pod }) => pod === name);
    if (report?.live !== LIVE || Object.keys(report.settings ?? {}).length === 0)
      throw new Error(`no report of ${name}: ${JSON.stringify(report)}`);
    if (!logs.some(({ file, lines }) => file === name && lines.length > 0))
      throw new Error(`no line of ${name}'s log`);
  }
  const { items } = JSON.parse(await release.cluster.kubectl('get', 'secrets', '--output', 'json')) as {
    items: SecretObject[];
  };
  // Helm keeps what it installed as secrets, too.
  const secrets = items
    .filter(({ type }) => !type.startsWith('helm.sh/'))
    .flatMap(({ data }) => Object.entries(data ?? {}))
    .map(([key, value]) => ({ key, value: Buffer.from(value, 'base64').toString('utf8') }))
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH);
  const leaked = secrets.filter(({ value }) => text.includes(JSON.stringify(value).slice(1, -1)));
  if (leaked.length > 0)
    throw new Error(`the bundle holds secrets: ${leaked.map(({ key }) => key).join(', ')}`);
  return `${pods.length} pods reported, and none of ${secrets.length} secrets`;
}
