import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SERVICE_NAMES } from '@gateway/cluster';
import type { KubernetesNode } from './node';
import { programIn } from './programs';
import { NAMESPACE, type Release } from './release';
import { run } from './run';

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

/** Has every pod tell of itself, as an operator would, and looks for the namespace's secrets in what they told. */
export async function supportBundle({
  root,
  cache,
  state,
  node,
  release,
}: {
  root: string;
  cache: string;
  /** Where the bundle is written to. */
  state: string;
  node: KubernetesNode;
  release: Release;
}): Promise<string> {
  const output = path.join(state, 'support-bundle.json');
  await run(
    process.execPath,
    [
      path.join(root, 'tools/commands/support-bundle.mjs'),
      ...['--pods', 'app.kubernetes.io/instance=gateway', '--namespace', NAMESPACE, '--output', output],
    ],
    {
      env: {
        KUBECONFIG: node.kubeconfig,
        PATH: `${path.dirname(programIn(cache, 'kubectl'))}:${process.env['PATH']}`,
      },
    },
  );
  const text = readFileSync(output, 'utf8');
  const { processes, logs } = JSON.parse(text) as Bundle;
  const pods = (await release.pods()).filter(({ component }) =>
    SERVICE_NAMES.some((name) => name === component),
  );
  for (const { name } of pods) {
    const told = processes.find(({ pod }) => pod === name);
    if (told?.live !== LIVE || Object.keys(told.settings ?? {}).length === 0)
      throw new Error(`${name} tells nothing of itself: ${JSON.stringify(told)}`);
    if (!logs.some(({ file, lines }) => file === name && lines.length > 0))
      throw new Error(`no line of ${name}'s log is there`);
  }
  const { items } = JSON.parse(await release.kubectl('get', 'secrets', '--output', 'json')) as {
    items: SecretObject[];
  };
  // Helm keeps what it installed as secrets, too.
  const secrets = items
    .filter(({ type }) => !type.startsWith('helm.sh/'))
    .flatMap(({ data }) => Object.entries(data ?? {}))
    .map(([key, value]) => ({ key, value: Buffer.from(value, 'base64').toString('utf8') }))
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH);
  const told = secrets.filter(({ value }) => text.includes(JSON.stringify(value).slice(1, -1)));
  if (told.length > 0) throw new Error(`the bundle holds secrets: ${told.map(({ key }) => key).join(', ')}`);
  return `${pods.length} pods told of themselves, and none of ${secrets.length} secrets`;
}
