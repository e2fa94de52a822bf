/** Official images, in the versions that the chart's values name. */
export const ENGINE_IMAGES = {
  postgres: 'postgres:18',
  redis: 'redis:7',
  kafka: 'apache/kafka:4.1.0',
} as const;

/** A server that tests run in Docker or as a local program. */
export type Engine = keyof typeof ENGINE_IMAGES;

const MODES = ['auto', 'docker', 'local'] as const;
export type EngineMode = (typeof MODES)[number];

/** `GATEWAY_TEST_ENGINES`: containers where Docker responds, else local programs; or only one of both. */
export function engineMode(env: NodeJS.ProcessEnv = process.env): EngineMode {
  const value = env['GATEWAY_TEST_ENGINES'] || 'auto';
  const mode = MODES.find((each) => each === value);
  if (mode === undefined) throw new Error(`GATEWAY_TEST_ENGINES is ${value}, not one of ${MODES.join(', ')}`);
  return mode;
}

/** The engines that run in Docker, separated by commas. Jest's global setup finds them, once for all test files. */
export const DOCKER_ENGINES = 'GATEWAY_TEST_DOCKER_ENGINES';

export const runsInDocker = (engine: Engine): boolean =>
  (process.env[DOCKER_ENGINES] ?? '').split(',').includes(engine);
