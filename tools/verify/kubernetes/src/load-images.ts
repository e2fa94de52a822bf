import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SERVICE_NAMES } from '@gateway/cluster';
import type { Options } from './options';
import { runProgram } from './run-program';

const KIND = 'kind-';
/** Images of the demo, without its datastores. */
const DEMO_IMAGES = [...SERVICE_NAMES, 'model-emulator', 'demo', 'certificates'];

/** Local images must be loaded into kind's nodes; any other cluster pulls them. */
export const needsLoading = ({ context, registry }: Pick<Options, 'context' | 'registry'>): boolean =>
  registry === undefined && context.startsWith(KIND);

/** @returns a summary of the loaded images */
export async function loadImages(
  { context, imageTag, upgradeTag }: Pick<Options, 'context' | 'imageTag' | 'upgradeTag'>,
  root: string,
): Promise<string> {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const tags = [imageTag ?? version, ...(upgradeTag === undefined ? [] : [upgradeTag])];
  const images = tags.flatMap((tag) => DEMO_IMAGES.map((name) => `inference-gateway/${name}:${tag}`));
  await runProgram('kind', ['load', 'docker-image', ...images, '--name', context.slice(KIND.length)]);
  return `${images.length} images`;
}
