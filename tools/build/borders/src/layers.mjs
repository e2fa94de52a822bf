// The layers of the platform, lowest first. A library may import those before it and none after it.
export const platformLayers = [
  'base',
  'telemetry',
  'errors',
  'addresses',
  'contracts',
  'actors',
  'certificates',
  'rpc',
  'runtime',
  'secrets',
  'database',
  'http-server',
  'dev-infra',
  'test-support',
  'mail',
  'webhooks',
  'tokenizer',
  'model-emulator',
  'audit',
  'events',
  'demo',
  'module',
  'process',
];

/**
 * The one exception, for specs only: test-support creates databases with dev-infra and `database`, whose own specs need
 * them. ESLint keeps both out of production code.
 */
export const testingInSpecs = { of: 'database', use: ['test-support', 'dev-infra'] };

/** One constraint per layer, for @nx/enforce-module-boundaries. */
export function layerConstraints() {
  return platformLayers.map((layer, index) => ({
    sourceTag: `layer:${layer}`,
    onlyDependOnLibsWithTags: [
      ...platformLayers.slice(0, index),
      ...(layer === testingInSpecs.of ? testingInSpecs.use : []),
    ].map((lower) => `layer:${lower}`),
  }));
}
