import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeWith, findProgram, type TestServer } from '@gateway/dev-infra';
import { parse } from 'yaml';
import { chartFolder } from './render';

const ALERTS = path.join(chartFolder, 'alerts');
const TEST_FILES = ['rules.test.yaml', 'rules-over-days.test.yaml'].map((file) => path.join(__dirname, file));

const program = (): string | undefined => process.env['PROMTOOL'] ?? findProgram('promtool');

const promtool: TestServer = {
  name: 'promtool',
  installHint: "Install Debian's package prometheus, or set PROMTOOL to its path.",
  isAvailable: () => program() !== undefined,
};

function run(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  // Fewer garbage collections: a fifth less processor time.
  const env = { ...process.env, GOGC: '400' };
  const { status, stdout, stderr } = spawnSync(program() ?? 'promtool', args, { encoding: 'utf8', env });
  return { status, output: stdout + stderr };
}

describeWith(promtool, 'the alerting rules of the chart', () => {
  it.each(readdirSync(ALERTS))('are valid: %s', (file) => {
    const { status, output } = run('check', 'rules', path.join(ALERTS, file));
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it.each(TEST_FILES)('fire for their condition only: %s', (file) => {
    const { status, output } = run('test', 'rules', file);
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string }[] }[];
}

interface TestFile {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

it('every alert has a test in which it fires', () => {
  const alerts = readdirSync(ALERTS).flatMap((file) => {
    const { groups } = parse(readFileSync(path.join(ALERTS, file), 'utf8')) as RuleFile;
    return groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
  });
  const fired = TEST_FILES.flatMap((file) => (parse(readFileSync(file, 'utf8')) as TestFile).tests)
    .flatMap((test) => test.alert_rule_test)
    .filter((test) => test.exp_alerts.length > 0)
    .map((test) => test.alertname);
  expect(alerts.filter((alert) => !fired.includes(alert))).toEqual([]);
});
