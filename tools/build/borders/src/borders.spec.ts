import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(__dirname, '../../../..');
const NOT_COPIED = new Set(['node_modules', 'dist', 'coverage', '.git', '.nx', '.gateway']);

/** ESLint reads the whole project for each case, which takes minutes on a busy machine. */
const LINT_TIMEOUT_MS = 300_000;

/** A copy of the project with its packages installed. */
let clone: string;

beforeAll(() => {
  clone = realpathSync(mkdtempSync(path.join(tmpdir(), 'gateway-borders-')));
  cpSync(root, clone, { recursive: true, filter: (source) => !NOT_COPIED.has(path.basename(source)) });
  symlinkSync(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** Runs ESLint, as `npm run lint` does, on paths of the clone while it contains these additional or replaced files. */
function lintWith(files: Readonly<Record<string, string>>, ...paths: string[]) {
  const own = Object.keys(files).map((name) => {
    const file = path.join(clone, name);
    return { file, text: existsSync(file) ? readFileSync(file, 'utf8') : undefined };
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(clone, name), text);
  try {
    const [, ...options] = lintCommand().split(' ');
    const eslint = path.join('node_modules', 'eslint', 'bin', 'eslint.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [eslint, ...options, ...paths], {
      cwd: clone,
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  } finally {
    for (const { file, text } of own) {
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
    }
  }
}

/** The command of `npm run lint`, such as `eslint --option`. */
function lintCommand(): string {
  const { targets } = JSON.parse(read('tools/commands/project.json')) as {
    targets: { lint: { command: string } };
  };
  return targets.lint.command;
}

function read(name: string): string {
  return readFileSync(path.join(root, name), 'utf8');
}

const using = (name: string, from: string) =>
  `import { ${name} } from '${from}';\n\nexport const planted = ${name};\n`;

/** Violations: each with its files, and the rule and message that report the first of them. */
const plants: readonly [violation: string, files: Record<string, string>, rule: string, message: RegExp][] = [
  [
    'a driver in a core',
    { 'libs/domains/auth/src/core/planted.ts': using('Pool', 'pg') },
    'no-restricted-imports',
    /The core is pure/,
  ],
  [
    'base importing runtime',
    { 'libs/platform/base/src/planted.ts': using('newId', '@gateway/runtime') },
    '@nx/enforce-module-boundaries',
    /./,
  ],
  [
    'a platform library importing one of a higher layer, without a cycle',
    { 'libs/platform/errors/src/planted.ts': using('isAddress', '@gateway/addresses') },
    '@nx/enforce-module-boundaries',
    /"layer:errors" can only depend on/,
  ],
  [
    'an import cycle between projects',
    { 'libs/platform/rpc/src/planted.ts': using('createLifecycle', '@gateway/module') },
    '@nx/enforce-module-boundaries',
    /Circular dependency between "@gateway\/rpc" and "@gateway\/module"/,
  ],
  [
    'an import cycle between the files of one project',
    {
      'libs/domains/usage/src/core/planted.ts': using('other', './planted-other'),
      'libs/domains/usage/src/core/planted-other.ts': "export { planted as other } from './planted';\n",
    },
    'borders/no-file-cycles',
    /Import cycle: .*planted\.ts → .*planted-other\.ts → .*planted\.ts/,
  ],
  [
    'an import cycle of types only',
    {
      'libs/domains/auth/src/service/planted.ts':
        "import type { Other } from './planted-other';\n\nexport type Planted = Other | undefined;\n",
      'libs/domains/auth/src/service/planted-other.ts':
        "import type { Planted } from './planted';\n\nexport type Other = readonly Planted[];\n",
    },
    'borders/no-file-cycles',
    /Import cycle/,
  ],
  [
    'a domain importing another',
    { 'libs/domains/usage/src/service/planted.ts': using('createAuthModule', '@gateway/auth') },
    '@nx/enforce-module-boundaries',
    /"scope:usage" can only depend on/,
  ],
  [
    'a test helper in production code',
    { 'libs/domains/usage/src/adapters/planted.ts': using('eventually', '@gateway/test-support') },
    '@typescript-eslint/no-restricted-imports',
    /Only tests and tools import it/,
  ],
];

interface LintResult {
  readonly filePath: string;
  readonly messages: readonly {
    readonly ruleId: string;
    readonly severity: number;
    readonly message: string;
  }[];
}

describe('npm run lint', () => {
  let planted: { status: number | null; results: LintResult[] };

  beforeAll(() => {
    const files = Object.assign({}, ...plants.map(([, files]) => files)) as Record<string, string>;
    const { status, output } = lintWith(files, '--format=json', ...Object.keys(files));
    planted = { status, results: JSON.parse(output) as LintResult[] };
  }, LINT_TIMEOUT_MS);

  it.each(plants)('fails on %s', (_, files, ruleId, message) => {
    expect(planted.status).not.toBe(0);
    const [name = ''] = Object.keys(files);
    const result = planted.results.find(({ filePath }) => filePath === path.join(clone, name));
    expect(result?.messages).toContainEqual(
      expect.objectContaining({ ruleId, severity: 2, message: expect.stringMatching(message) }),
    );
  });

  it(
    'accepts code that follows the import rules',
    () => {
      const name = 'libs/domains/usage/src/core/planted.ts';
      expect(lintWith({ [name]: using('nanoUsd', '@gateway/base') }, name)).toEqual({
        status: 0,
        output: '',
      });
    },
    LINT_TIMEOUT_MS,
  );

  it.each<[problem: string, files: Record<string, string>, message: RegExp]>([
    [
      'has no imports',
      { 'nx.json': read('nx.json').replace('"analyzeSourceFiles": true', '"analyzeSourceFiles": false') },
      /the project graph has no imports/,
    ],
    ['lacks a library', { '.nxignore': 'libs/platform/base\n' }, /libs\/platform\/base has no project\.json/],
    [
      'has a platform library in no layer',
      {
        'libs/platform/base/project.json': read('libs/platform/base/project.json').replace(
          'layer:base',
          'layer:cellar',
        ),
      },
      /@gateway\/base needs the tag of one layer/,
    ],
  ])(
    'fails when the project graph %s',
    (_, files, message) => {
      const { status, output } = lintWith(files, 'libs/platform/errors');
      expect(output).toMatch(message);
      expect(status).not.toBe(0);
    },
    LINT_TIMEOUT_MS,
  );
});
