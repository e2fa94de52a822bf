import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describeWith, findProgram, type TestServer } from '@gateway/dev-infra';
import { chartFolder } from './render';

const program = (): string | undefined => process.env['PROMTOOL'] ?? findProgram('promtool');

const promtool: TestServer = {
  name: 'promtool',
  howToGet: "Debian's package prometheus brings it, or PROMTOOL names it.",
  isAvailable: () => program() !== undefined,
};

function run(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(program() ?? 'promtool', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describeWith(promtool, 'the rules of the chart', () => {
  it.each(readdirSync(path.join(chartFolder, 'alerts')))('are what Prometheus understands: %s', (file) => {
    const { status, output } = run('check', 'rules', path.join(chartFolder, 'alerts', file));
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('fire for what they are about, and for nothing else', () => {
    const { status, output } = run('test', 'rules', path.join(__dirname, 'rules.test.yaml'));
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
