import { bounded } from './bounded';
import { findDocker, hasImage } from './find-docker';
import { DOCKER_ENGINES, ENGINE_IMAGES, engineMode, type Engine } from './test-engines';

export interface PrepareEnginesOptions {
  /** Receives DOCKER_HOST and the engines that run in Docker. */
  readonly env?: NodeJS.ProcessEnv;
  readonly say?: (message: string) => void;
  readonly pull?: (image: string) => Promise<void>;
}

/**
 * Decides for a whole test run which engines run in Docker, and pulls their images. It runs before
 * all tests, so that a pull takes no test's time.
 *
 * @throws Error if GATEWAY_TEST_ENGINES=docker and Docker or an image is missing
 */
export async function prepareEngines({
  env = process.env,
  say = console.warn,
  pull = pullImage,
}: PrepareEnginesOptions = {}): Promise<void> {
  const mode = engineMode(env);
  env[DOCKER_ENGINES] = '';
  if (mode === 'local') return;
  const found = await findDocker(env);
  if (!('host' in found)) {
    const reason = found.problem ?? 'there is no Docker socket, and DOCKER_HOST is not set';
    if (mode === 'docker') throw new Error(`GATEWAY_TEST_ENGINES=docker, but no Docker engine: ${reason}`);
    if (found.problem) say(`Docker does not respond, so tests use local servers: ${reason}`);
    return;
  }
  env['DOCKER_HOST'] ??= found.host;
  const usable: Engine[] = [];
  let canPull = true;
  for (const [engine, image] of Object.entries(ENGINE_IMAGES) as [Engine, string][]) {
    if (await hasImage(found.host, image, env)) {
      usable.push(engine);
      continue;
    }
    if (!canPull) continue;
    try {
      say(`Pulling ${image} for tests; GATEWAY_TEST_ENGINES=local avoids it`);
      await pull(image);
      if (!(await hasImage(found.host, image, env))) throw new Error('the registry did not deliver it');
      usable.push(engine);
    } catch (error) {
      const problem = `${image} cannot be pulled: ${(error as Error).message}`;
      if (mode === 'docker') throw new Error(`GATEWAY_TEST_ENGINES=docker, but ${problem}`, { cause: error });
      // Without a registry, every pull would wait for it.
      canPull = false;
      say(`${problem}. Tests use local servers for engines without an image.`);
    }
  }
  env[DOCKER_ENGINES] = usable.join(',');
}

const PULL_TIMEOUT_MS = 600_000;

async function pullImage(image: string): Promise<void> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  await bounded(`pulling ${image}`, PULL_TIMEOUT_MS, async () => {
    const client = await getContainerRuntimeClient();
    await client.image.pull(ImageName.fromString(image));
  });
}
