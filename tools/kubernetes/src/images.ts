import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { kafkaJars } from '@gateway/dev-infra';
import { PAUSE_IMAGE } from './node-files';
import { run, tryToRun } from './run';

const BASE_IMAGE = 'gateway-kubernetes/base:latest';

/** Images of the demo's engines, and what the node itself needs: targets of images/Dockerfile. */
export const ENGINE_IMAGES = {
  postgres: 'gateway-kubernetes/postgres:latest',
  redis: 'gateway-kubernetes/redis:latest',
  kafka: 'gateway-kubernetes/kafka:latest',
} as const;
const STAND_INS = { ...ENGINE_IMAGES, pause: PAUSE_IMAGE };

/** What the demo runs. */
const PROGRAMS = [
  'auth',
  'rate-limit',
  'billing-ledger',
  'usage-aggregator',
  'generation-query',
  'inference-router',
  'edge-proxy',
  'dashboard-api',
  'model-emulator',
  'demo',
];
/** Of the demo's second version: the same programs, by another name. */
export const NEXT_TAG = 'next';

export interface Images {
  readonly all: readonly string[];
}

/** Builds all images of this tree with Docker, on a base that debootstrap makes once. */
export async function buildImages(
  root: string,
  version: string,
  say: (text: string) => void,
): Promise<Images> {
  await run('docker', ['version']).catch((error: unknown) => {
    throw new Error('Docker does not answer; it builds the images.', { cause: error });
  });
  if ((await tryToRun('docker', ['images', '--quiet', BASE_IMAGE])).trim() === '') {
    say('making a base for images with debootstrap, once');
    await makeBase();
  }
  say('building images');
  await run(
    process.execPath,
    [
      'tools/bootstrap/images.mjs',
      ...['--base', BASE_IMAGE, '--build-image', BASE_IMAGE, '--network', 'host'],
      ...PROGRAMS.flatMap((program) => ['--app', program]),
    ],
    { cwd: root },
  );
  await buildStandIns(path.join(root, 'tools/kubernetes/images'));
  const own: string[] = [];
  for (const program of PROGRAMS) {
    const image = `inference-gateway/${program}`;
    await run('docker', ['tag', `${image}:${version}`, `${image}:${NEXT_TAG}`]);
    own.push(`${image}:${version}`, `${image}:${NEXT_TAG}`);
  }
  return { all: [...own, ...Object.values(STAND_INS)] };
}

async function buildStandIns(source: string): Promise<void> {
  const context = await mkdtemp(path.join(os.tmpdir(), 'gateway-kubernetes-images-'));
  try {
    await cp(source, context, { recursive: true });
    await cp(await kafkaJars(), path.join(context, 'jars'), { recursive: true });
    for (const [target, image] of Object.entries(STAND_INS)) {
      const settings = ['--build-arg', `BASE_IMAGE=${BASE_IMAGE}`];
      await run('docker', ['build', '--target', target, '--tag', image, ...settings, context]);
    }
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const ENGINE_PACKAGES = ['postgresql', 'redis-server', 'openjdk-17-jre-headless'];

/** Debian with this machine's Node and the engines' packages. */
async function makeBase(): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gateway-kubernetes-base-'));
  const within = (...names: string[]): string => path.join(folder, ...names);
  try {
    await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', folder]);
    // Packages of servers would start them.
    await writeFile(within('usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    await run('mount', ['-t', 'proc', 'proc', within('proc')]);
    try {
      const install = ['install', '--yes', '--no-install-recommends', ...ENGINE_PACKAGES];
      await run('chroot', [folder, 'apt-get', '--option', 'Dpkg::Options::=--force-unsafe-io', ...install]);
    } finally {
      await run('umount', [within('proc')]);
    }
    for (const waste of ['var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man']) {
      await rm(within(waste), { recursive: true, force: true });
    }
    await mkdir(within('var/cache/apt/archives/partial'), { recursive: true });
    await copyNode(within);
    // Packages may come through something that only this machine trusts.
    await cp(AUTHORITIES, within(AUTHORITIES));
    const archive = `${folder}.tar`;
    await run('tar', ['--directory', folder, '--create', '--file', archive, '.']);
    await run('docker', [
      'import',
      '--change',
      `ENV NODE_EXTRA_CA_CERTS=${AUTHORITIES}`,
      archive,
      BASE_IMAGE,
    ]);
    await rm(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyNode(within: (name: string) => string): Promise<void> {
  const npm = (await run('npm', ['root', '--global'])).trim();
  await cp(process.execPath, within('usr/bin/node'));
  await cp(path.join(npm, 'npm'), within('usr/lib/node_modules/npm'), { recursive: true });
  await run('ln', ['--symbolic', '--force', '../lib/node_modules/npm/bin/npm-cli.js', within('usr/bin/npm')]);
}
