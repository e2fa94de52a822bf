// @ts-check

/** @type {import('jest').Config} */
const config = {
  testEnvironment: 'node',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools'],
  testMatch: ['**/*.spec.ts', '**/*.spec.tsx'],
  transform: {
    '\\.sql$': '<rootDir>/tools/build/jest/sql-transform.cjs',
    '\\.tsx$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
        },
        module: { type: 'commonjs' },
      },
    ],
    '\\.(t|j)s$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  // These are ES modules alone, which jest cannot load as they are.
  transformIgnorePatterns: ['/node_modules/(?!(openid-client|oauth4webapi|jose)/)'],
  moduleNameMapper: {
    '^@gateway/rpc/grpc$': '<rootDir>/libs/platform/rpc/src/grpc/index.ts',
    '^@gateway/rpc/local$': '<rootDir>/libs/platform/rpc/src/local/index.ts',
    '^@gateway/events/kafka$': '<rootDir>/libs/platform/events/src/kafka/index.ts',
    '^@gateway/tokenizer/encodings$': '<rootDir>/libs/platform/tokenizer/src/encodings.ts',
    '^@gateway/rate-limit/redis$': '<rootDir>/libs/domains/rate-limit/src/adapters/redis/index.ts',
    '^@gateway/contracts/(.*)$': '<rootDir>/libs/platform/contracts/src/$1.ts',
    '^@gateway/dashboard-contract/(.*)$': '<rootDir>/libs/domains/dashboard-contract/src/$1.ts',
    '^@gateway/auth-shared/(.*)$': '<rootDir>/libs/domains/auth-shared/src/$1/index.ts',
    '^@gateway/cluster$': '<rootDir>/tools/verify/cluster/src/index.ts',
    '^@gateway/load$': '<rootDir>/tools/measure/load/src/index.ts',
    '^@gateway/([^/]+)$': ['domains', 'platform', 'demo', 'testing'].map(
      (group) => `<rootDir>/libs/${group}/$1/src/index.ts`,
    ),
  },
  globalSetup: '<rootDir>/libs/testing/test-support/src/jest-global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/test-support/src/jest-global-teardown.ts',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Not in the temporary folder, which is another one for each run.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testTimeout: 30_000,
  maxWorkers: 2,
};

export default config;
