import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../../..');
const source = join(root, 'libs/platform/contracts/golden');
const golden = join(source, 'golden.ts.txt');

/**
 * RPCs and stored events depend on the generated codecs. If an upgrade of
 * ts-proto or buf changes them, review the difference before you accept it:
 * `UPDATE_GOLDEN=1 npx jest libs/platform/contracts`.
 */
it('the generator output for the golden contract is unchanged', () => {
  const output = mkdtempSync(join(tmpdir(), 'gateway-golden-'));
  try {
    execFileSync(
      process.execPath,
      [
        join(root, 'node_modules/@bufbuild/buf/bin/buf'),
        'generate',
        source,
        '--template',
        'buf.gen.yaml',
        '-o',
        output,
      ],
      { cwd: root, stdio: 'pipe' },
    );
    const generated = readFileSync(
      join(output, 'libs/platform/contracts/src/generated/golden/v1/golden.ts'),
      'utf8',
    );
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, generated);
    expect(generated).toBe(readFileSync(golden, 'utf8'));
  } finally {
    rmSync(output, { recursive: true });
  }
});
