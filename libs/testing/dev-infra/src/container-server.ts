import type { TestServer } from './describe-with';
import { ENGINE_IMAGES, runsInDocker, type Engine } from './test-engines';

/** For suites about containers. They run wherever Docker responds. */
export const containerOf = (engine: Engine): TestServer => ({
  name: `${ENGINE_IMAGES[engine]} in Docker`,
  installHint: 'Start Docker.',
  isAvailable: () => runsInDocker(engine),
  isOptional: true,
});
