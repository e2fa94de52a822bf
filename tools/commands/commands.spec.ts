import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(__dirname, '../..');

/** Commands that validate their options before building. */
const COMMANDS = [
  'audit.mjs',
  'docs.mjs',
  'fuzz.mjs',
  'dead-letters.mjs',
  'simulate.mjs',
  'mutate.mjs',
  'image.mjs',
  'support-bundle.mjs',
  'package.mjs',
];

it.each(COMMANDS)('%s prints its usage, without a stack trace, when given an unknown option', (command) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [path.join(root, 'tools/commands', command), '--no-such-option'],
    { encoding: 'utf8' },
  );
  expect(status).toBe(2);
  expect(stderr).toContain('--no-such-option');
  expect(stderr.match(/^Usage: .*$/gm)).toEqual([expect.stringMatching(/^Usage: npm run /)]);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it.each([
  ['conformance', 'Usage: npm run conformance'],
  ['bench', 'npm run bench -- '],
  ['models', 'Usage: npm run models'],
  ['model-emulator', 'model-emulator ['],
])('the built program %s prints its usage when given an unknown option', (program, usage) => {
  const bundle = path.join(root, 'dist', program, 'main.js');
  const { status, stderr } = spawnSync(process.execPath, [bundle, '--no-such-option'], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain("'--no-such-option'");
  expect(stderr).toContain(usage);
  expect(stderr).not.toMatch(/^\s+at /m);
});
