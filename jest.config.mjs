// @ts-check
import { readFileSync } from 'node:fs';

const tsconfig = JSON.parse(readFileSync(new URL('tsconfig.base.json', import.meta.url), 'utf8'));

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
        // Testing Library adds hooks to jest when it is loaded.
        module: { type: 'commonjs' },
      },
    ],
    '\\.(t|j)s$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        // Loads packages and libraries at their first use: most suites need a fifth less processor time.
        module: { type: 'commonjs', lazy: true },
      },
    ],
  },
  // These packages ship only ES modules, which jest cannot load untransformed.
  transformIgnorePatterns: ['/node_modules/(?!(openid-client|oauth4webapi|jose|marked)/)'],
  moduleNameMapper: Object.fromEntries(
    Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => [
      `^${name.replace('*', '(.*)')}$`,
      file.replace('./', '<rootDir>/').replace('*', '$1'),
    ]),
  ),
  globalSetup: '<rootDir>/libs/testing/test-support/src/jest-global-setup.ts',
  globalTeardown: '<rootDir>/libs/testing/test-support/src/jest-global-teardown.ts',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // The temporary folder differs for each run.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Other globals are read through an interceptor: without these, tests with tight loops take 1.3 to 2 times the processor time.
  sandboxInjectedGlobals: ['Array', 'JSON', 'Math', 'Number', 'Object'],
  testTimeout: 30_000,
  // More than the cores of a small machine, because many suites wait.
  maxWorkers: 3,
  // Heaps of workers grow with each suite; collecting them takes longer than starting a new worker.
  workerIdleMemoryLimit: '700MB',
};

export default config;
