import { parseArgs } from 'node:util';
import { readOptionsOrExit } from '@gateway/test-support';
import { allCases } from './cases';
import {
  caseRunner,
  codesWithoutCase,
  coverageTable,
  openDeployment,
  type CaseResult,
  type ConformanceCase,
  type DeploymentAddress,
} from './framework';

const HELP = `Usage: npm run conformance -- --base-url URL --dashboard-url URL --email EMAIL [options]

Tests a running gateway against the public API specification. It creates its own organizations, keys and credit through the
dashboard API and changes nothing else.

  --base-url URL            the API, such as http://127.0.0.1:8080/v1
  --dashboard-url URL       the dashboard, such as http://127.0.0.1:8081
  --email EMAIL             email of an operator
  --only TEXT               run only cases whose section, code or title contains TEXT
  --connection-retries N    run a case again, up to N times, if a connection broke (default: 0)

The password is read from GATEWAY_ADMIN_PASSWORD, so that it does not appear in process lists.
`;

interface Options extends DeploymentAddress {
  readonly only: string;
  readonly connectionRetries: number;
}

/** @returns 'help' if requested @throws Error for invalid arguments */
function readOptions(argv: readonly string[], adminPassword: string | undefined): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      'base-url': { type: 'string' },
      'dashboard-url': { type: 'string' },
      email: { type: 'string' },
      only: { type: 'string', default: '' },
      'connection-retries': { type: 'string', default: '0' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const connectionRetries = Number(values['connection-retries']);
  if (!Number.isSafeInteger(connectionRetries) || connectionRetries < 0)
    throw new Error(`--connection-retries must be a whole number, not '${values['connection-retries']}'`);
  return {
    baseUrl: required('--base-url', values['base-url']),
    dashboardUrl: required('--dashboard-url', values['dashboard-url']),
    adminEmail: required('--email', values.email),
    adminPassword: required('GATEWAY_ADMIN_PASSWORD', adminPassword),
    only: values.only,
    connectionRetries,
  };
}

function required(name: string, value: string | undefined): string {
  if (!value) throw new Error(`${name} is required`);
  return value;
}

async function main(): Promise<number> {
  const options = readOptionsOrExit(
    () => readOptions(process.argv.slice(2), process.env.GATEWAY_ADMIN_PASSWORD),
    HELP,
  );
  const deployment = await openDeployment(options);
  const results: CaseResult[] = [];
  const selected = allCases.filter((one) => titleOf(one).includes(options.only));
  const run = caseRunner(selected, deployment, options);
  for (const one of selected) {
    const result = await run(one);
    results.push(result);
    process.stdout.write(`${lineOf(result)}\n`);
  }
  process.stdout.write(`\n${coverageTable(results)}\n`);
  const missing = codesWithoutCase(allCases);
  if (missing.length > 0) process.stdout.write(`Codes without a case: ${missing.join(', ')}\n`);
  return missing.length > 0 || results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

function titleOf({ section, code, title }: ConformanceCase): string {
  return `§${section} ${code ? `${code}: ` : ''}${title}`;
}

function lineOf({ conformanceCase, outcome, durationMs, error }: CaseResult): string {
  const mark = { passed: '✓', failed: '✗', skipped: '–' }[outcome];
  const seconds = durationMs >= 1_000 ? ` (${(durationMs / 1_000).toFixed(1)} s)` : '';
  const reason = error instanceof Error ? error.message : String(error);
  const details = error === undefined ? '' : `\n    ${reason.replaceAll('\n', '\n    ')}`;
  return `${mark} ${titleOf(conformanceCase)}${seconds}${details}`;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
