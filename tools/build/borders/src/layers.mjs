// The platform's layers, lowest first. Each library stands on those before it and knows none after it.
export const platformLayers = [
  'base',
  'telemetry',
  'errors',
  'addresses',
  'contracts',
  'rpc',
  'runtime',
  'database',
  'http-server',
  'dev-infra',
  'test-support',
  'mail',
  'tokenizer',
  'model-emulator',
  'events',
  'demo',
  'module',
  'process',
];

/**
 * The one exception, for specs only: `testing` makes databases with `database`,
 * and the specs of `database` need some. ESLint keeps `testing` out of what
 * runs in production.
 */
export const testingInSpecs = { of: 'database', uses: 'test-support' };

/** One constraint per layer, for @nx/enforce-module-boundaries. */
export function layerConstraints() {
  return platformLayers.map((layer, index) => ({
    sourceTag: `layer:${layer}`,
    onlyDependOnLibsWithTags: [
      ...platformLayers.slice(0, index),
      ...(layer === testingInSpecs.of ? [testingInSpecs.uses] : []),
    ].map((lower) => `layer:${lower}`),
  }));
}
