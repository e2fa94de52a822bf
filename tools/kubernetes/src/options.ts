import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  /** Of what is built once: programs and the base of images. */
  readonly cache: string;
  /** Of a cluster that runs; emptied when it is taken down. */
  readonly state: string;
  /** Requests per second. */
  readonly rate: number;
  /** Only these steps after the installation; all when empty. */
  readonly only: readonly string[];
  /** Leaves the cluster up. */
  readonly keep: boolean;
  /** Takes down what was left up, and does no more. */
  readonly down: boolean;
}

export const USAGE = `Usage: npm run kubernetes -- [--only STEP] [--rate N] [--cache FOLDER] [--state FOLDER] [--keep] [--down]

Builds a Kubernetes of one node, starts it on this machine, and tries the chart's demo on it: installation, upgrade,
loss of each part, scaling, all under load, with exact books afterwards. As root, on Linux; docs/kubernetes.md says what
it needs.

  --only     of the steps after the installation only this one; may be repeated
  --rate     requests per second of the load (10)
  --cache    where programs and images are kept that are built once (node_modules/.cache/kubernetes)
  --state    where the running cluster keeps what it has
  --keep     leave it up afterwards
  --down     take down what --keep left
`;

const MEMORY = '/dev/shm';

/** Memory where there is some: every commit waits for the disk, and a disk that others write to takes seconds. */
const stateParent = (): string => (existsSync(MEMORY) ? MEMORY : os.tmpdir());

/** @returns 'help' when that is asked for. @throws Error with what is wrong. */
export function readOptions(
  argv: readonly string[],
  root: string,
  steps: readonly string[],
): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      rate: { type: 'string', default: '10' },
      cache: { type: 'string', default: path.join(root, 'node_modules/.cache/kubernetes') },
      state: { type: 'string', default: path.join(stateParent(), 'gateway-kubernetes') },
      keep: { type: 'boolean', default: false },
      down: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  const unknown = values.only.find((step) => !steps.includes(step));
  if (unknown !== undefined)
    throw new Error(`--only: there is no step '${unknown}', but ${steps.join(', ')}`);
  const rate = Number(values.rate);
  if (!(rate > 0)) throw new Error(`--rate: '${values.rate}' is no number above 0`);
  return {
    cache: path.resolve(values.cache),
    state: path.resolve(values.state),
    rate,
    only: values.only,
    keep: values.keep,
    down: values.down,
  };
}
