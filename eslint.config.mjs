import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { layerConstraints, testingInSpecs } from './tools/build/borders/src/layers.mjs';
import { noFileCycles } from './tools/build/borders/src/no-file-cycles.mjs';
import { requireProjectGraph } from './tools/build/borders/src/project-graph.mjs';

await requireProjectGraph(import.meta.dirname);

const domains = [
  'edge-proxy',
  'public-api',
  'api-docs',
  'auth',
  'auth-shared',
  'operator-notifications',
  'people',
  'rate-limit',
  'billing-ledger',
  'statements',
  'inference-router',
  'usage',
  'dashboard-api',
  'dashboard-contract',
  'admin-calls',
];

/** The endpoints of the dashboard API, and what serves and calls them. */
const ADMIN = ['admin-calls', 'dashboard-contract'];

/** Domains that a domain may import: shared libraries of its service, and the two public contracts. */
const sharedRules = {
  auth: [...ADMIN, 'auth-shared', 'people'],
  people: [...ADMIN, 'auth-shared'],
  'auth-shared': ['dashboard-contract'],
  'operator-notifications': [...ADMIN, 'auth-shared'],
  statements: [...ADMIN, 'billing-ledger'],
  'edge-proxy': ['public-api'],
  'inference-router': ADMIN,
  usage: ADMIN,
  'admin-calls': ['dashboard-contract'],
  'dashboard-api': [...ADMIN, 'public-api'],
  'api-docs': ['public-api', 'dashboard-contract'],
};

/** The dashboard runs in browsers: it imports only the contract that it shares with the server. */
const browserMayUse = ['scope:dashboard', 'scope:dashboard-contract', 'layer:base'];

const contractOnly =
  'The contract of the dashboard runs in browsers too: it imports zod, @gateway/base and the types of @gateway/errors only.';

const coreOnly =
  'The core is pure: it imports its own core, @gateway/base and @gateway/errors only (ARCHITECTURE, "Import rules").';

/** Modules that no core file may reach: I/O, npm packages, other layers. */
const outsideCore = [
  { regex: '^node:', message: coreOnly },
  { regex: '^@gateway/(?!(base|errors|auth-shared|billing-ledger/core)$)', message: coreOnly },
  { regex: '^(?!\\.|@gateway/)', message: coreOnly },
  { regex: '(^|/)(adapters|service)(/|$)', message: coreOnly },
];

/** The edge owns no data: its core speaks in the messages of the other services, and in the terms of the public API. */
const outsideEdgeCore = outsideCore.map(({ regex, message }) => ({
  regex: regex.replace('(base|errors|', '(base|errors|public-api|contracts/[a-z-]+|'),
  message,
}));

/** As `outsideCore`, for a core file that uses a codec from npm: a pure function of bytes. */
const outsideCoreExcept = (codec) =>
  outsideCore.map(({ regex, message }) =>
    regex === '^(?!\\.|@gateway/)' ? { regex: `^(?!\\.|@gateway/|${codec}$)`, message } : { regex, message },
  );

export default [
  {
    ignores: [
      'node_modules/**',
      'dist/**',
      '.nx/**',
      '.gateway/**',
      'coverage/**',
      'libs/platform/contracts/src/generated/**',
      '**/prisma/generated/**',
    ],
  },
  ...tseslint.configs.recommended.map((config) => ({ files: ['**/*.{ts,tsx}'], ...config })),
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { '@nx': nx, borders: { rules: { 'no-file-cycles': noFileCycles } } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', { selector: 'PrivateIdentifier', message: 'Write `private`.' }],
      'no-restricted-globals': ['error', { name: 'test', message: 'Write `it`.' }],
      eqeqeq: 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only apps/*/src/config.ts reads the environment.' },
      ],
      'borders/no-file-cycles': 'error',
      '@nx/enforce-module-boundaries': [
        'error',
        {
          // The configuration reference is generated from the settings of every process.
          allow: ['^\\.\\./\\.\\./\\.\\./\\.\\./\\.\\./apps/[a-z-]+/src/config$'],
          ignoredCircularDependencies: testingInSpecs.use.map((name) => [
            `@gateway/${testingInSpecs.of}`,
            `@gateway/${name}`,
          ]),
          depConstraints: [
            { sourceTag: 'type:platform', onlyDependOnLibsWithTags: ['type:platform'] },
            ...layerConstraints(),
            {
              sourceTag: 'type:testing',
              onlyDependOnLibsWithTags: ['type:platform', 'type:domain', 'type:testing'],
            },
            { sourceTag: 'type:tool', onlyDependOnLibsWithTags: ['type:platform', 'type:tool'] },
            {
              sourceTag: 'type:app',
              onlyDependOnLibsWithTags: ['type:platform', 'type:domain', 'type:testing', 'type:tool'],
            },
            { sourceTag: 'scope:dashboard', onlyDependOnLibsWithTags: browserMayUse },
            { sourceTag: 'type:e2e', onlyDependOnLibsWithTags: ['type:platform', 'type:tool'] },
            ...domains.map((domain) => ({
              sourceTag: `scope:${domain}`,
              onlyDependOnLibsWithTags: [
                'type:platform',
                ...[domain, ...(sharedRules[domain] ?? [])].map((scope) => `scope:${scope}`),
              ],
            })),
          ],
        },
      ],
    },
  },
  {
    files: ['libs/*/*/src/core/**/*.ts', 'libs/domains/public-api/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.contract.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: outsideCore }],
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'process', 'fetch'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Take a Clock.' },
        { object: 'Math', property: 'random', message: 'Take a source of randomness.' },
      ],
    },
  },
  {
    files: ['libs/domains/edge-proxy/src/core/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.contract.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: outsideEdgeCore }],
    },
  },
  {
    files: ['libs/domains/inference-router/src/core/framing/aws-event-stream.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: outsideCoreExcept('@smithy/eventstream-codec') }],
    },
  },
  {
    files: ['libs/*/*/src/adapters/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '(^|/)service(/|$)', message: 'Adapters import their own core and the platform only.' },
          ],
        },
      ],
    },
  },
  {
    files: ['libs/*/*/src/service/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '(^|/)adapters(/|$)',
              message: 'A service receives its ports; the wiring creates the adapters.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['apps/*/src/**/*.ts', 'libs/*/*/src/**/*.ts'],
    ignores: ['**/*.{spec,contract,fixture,simulation}.ts', '**/{testing,test-support}/**', 'apps/e2e/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^@gateway/(test-support|dev-infra|ledger-audit|(admin-calls|billing-ledger)/testing)$',
              message: 'Only tests and tools import it.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['libs/domains/dashboard-contract/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '^(?!\\.|zod$|@gateway/(base|errors)$)', message: contractOnly },
            { regex: '^@gateway/errors$', message: contractOnly, allowTypeImports: true },
          ],
        },
      ],
    },
  },
  {
    files: ['apps/dashboard/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' },
  },
  {
    // Configuration, tests and tools read the environment and print.
    files: [
      'apps/*/src/config.ts',
      '**/*.spec.{ts,tsx}',
      '**/*.contract.ts',
      'apps/e2e/**',
      'tools/**',
      'libs/testing/**',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-console': 'off' },
  },
  {
    files: ['apps/e2e/src/**'],
    ignores: ['apps/e2e/src/testing/field.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { property: 'getByLabel', message: 'Also finds longer labels. Use field() of testing/field.' },
      ],
    },
  },
  prettier,
];
