import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@gateway/cluster';
import { kafkaJars } from '@gateway/dev-infra';
import { ENGINE_BASE, makeBases, SERVICE_BASE } from './bases';
import { PAUSE_IMAGE } from './node-files';
import { run } from './run';

/** Images of the demo's engines, and what the node itself needs: targets of images/Dockerfile. */
export const ENGINE_IMAGES = {
  postgres: 'gateway-kubernetes/postgres:latest',
  redis: 'gateway-kubernetes/redis:latest',
  kafka: 'gateway-kubernetes/kafka:latest',
} as const;
const STAND_INS = { ...ENGINE_IMAGES, pause: PAUSE_IMAGE };

/** What the demo runs. */
const PROGRAMS = [...SERVICE_NAMES, 'model-emulator', 'demo'];
/** Of the demo's second version: the same programs, by another name. */
export const NEXT_TAG = 'next';

/**
 * Builds all images of this tree with Docker, on bases of Debian's packages.
 *
 * @returns their names.
 */
export async function buildImages(
  root: string,
  version: string,
  say: (text: string) => void,
): Promise<string[]> {
  await run('docker', ['version']).catch((error: unknown) => {
    throw new Error('Docker does not answer; it builds the images.', { cause: error });
  });
  await makeBases(say);
  say('building images');
  const ids = new Map<string, string>();
  for (const program of PROGRAMS) ids.set(program, await buildProgram(root, program, version));
  await buildAgain(root, version, ids);
  await buildStandIns(path.join(root, 'tools/verify/kubernetes/images'));
  const own: string[] = [];
  for (const program of PROGRAMS) {
    const image = `inference-gateway/${program}`;
    await run('docker', ['tag', `${image}:${version}`, `${image}:${NEXT_TAG}`]);
    own.push(`${image}:${version}`, `${image}:${NEXT_TAG}`);
  }
  return [...own, ...Object.values(STAND_INS)];
}

/**
 * By docker/Dockerfile, but with the files laid out by this tree, whose packages are installed already.
 *
 * @returns the image's id, a digest of all that it holds.
 */
async function buildProgram(
  root: string,
  program: string,
  version: string,
  ...flags: readonly string[]
): Promise<string> {
  const image = `inference-gateway/${program}:${version}`;
  const context = await mkdtemp(path.join(os.tmpdir(), 'gateway-kubernetes-image-'));
  try {
    await run(process.execPath, ['tools/commands/image-files.mjs', program, path.join(context, 'image')], {
      cwd: root,
    });
    const original = await readFile(path.join(root, 'docker/Dockerfile'), 'utf8');
    const lastStage = original.slice(original.indexOf('FROM ${BASE_IMAGE}'));
    const text = `ARG BASE_IMAGE\nFROM scratch AS build\nCOPY image /image\n\n${lastStage}`;
    const settings = [`APP=${program}`, `VERSION=${version}`, `BASE_IMAGE=${SERVICE_BASE}`];
    await run(
      'docker',
      [
        ...['build', '--file', '-', '--tag', image, ...flags],
        ...settings.flatMap((each) => ['--build-arg', each]),
        context,
      ],
      { input: text },
    );
    const settle = ['tools/commands/settle-image.mjs', image, SERVICE_BASE];
    return await run(process.execPath, settle, { cwd: root });
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** @throws Error when the same sources do not give the same image. */
async function buildAgain(root: string, version: string, ids: ReadonlyMap<string, string>): Promise<void> {
  const [[program, before] = ['', '']] = ids;
  const after = await buildProgram(root, program, version, '--no-cache');
  if (after !== before) throw new Error(`two builds of ${program} differ: ${before.trim()}, ${after.trim()}`);
}

async function buildStandIns(source: string): Promise<void> {
  const context = await mkdtemp(path.join(os.tmpdir(), 'gateway-kubernetes-images-'));
  try {
    await cp(source, context, { recursive: true });
    await cp(await kafkaJars(), path.join(context, 'jars'), { recursive: true });
    for (const [target, image] of Object.entries(STAND_INS)) {
      const settings = ['--build-arg', `BASE_IMAGE=${ENGINE_BASE}`];
      await run('docker', ['build', '--target', target, '--tag', image, ...settings, context]);
    }
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}
