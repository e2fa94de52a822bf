import { parseArgs } from 'node:util';
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

const HELP = `Usage: npm run conformance -- --base-url URL --dashboard-url URL --email EMAIL [--only TEXT]

Proves the public contract of a running gateway, line by line. It creates organizations, keys and credit of
its own through the dashboard API and touches nothing else.

  --base-url       with /v1, such as http://127.0.0.1:8080/v1
  --dashboard-url  such as http://127.0.0.1:8081
  --email          of a member who manages every organization
  --only           run only cases whose section, code or line holds this text

The password is read from GATEWAY_ADMIN_PASSWORD, so that it stands in no list of processes.
`;

function readOptions() {
  return parseArgs({
    options: {
      'base-url': { type: 'string' },
      'dashboard-url': { type: 'string' },
      email: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values;
}

async function main(): Promise<number> {
  let values: ReturnType<typeof readOptions>;
  try {
    values = readOptions();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  const address: Partial<DeploymentAddress> = {
    baseUrl: values['base-url'],
    dashboardUrl: values['dashboard-url'],
    adminEmail: values.email,
    adminPassword: process.env.GATEWAY_ADMIN_PASSWORD,
  };
  if (values.help || Object.values(address).some((value) => !value)) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }

  const deployment = await openDeployment(address as DeploymentAddress);
  const results: CaseResult[] = [];
  const chosen = allCases.filter((one) => titleOf(one).includes(values.only));
  const run = caseRunner(chosen, deployment);
  for (const one of chosen) {
    const result = await run(one);
    results.push(result);
    process.stdout.write(`${lineOf(result)}\n`);
  }
  process.stdout.write(`\n${coverageTable(results)}\n`);
  const missing = codesWithoutCase(allCases);
  if (missing.length > 0) process.stdout.write(`Codes without a case: ${missing.join(', ')}\n`);
  return missing.length > 0 || results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

function titleOf({ section, code, line }: ConformanceCase): string {
  return `§${section} ${code ? `${code}: ` : ''}${line}`;
}

function lineOf({ conformanceCase, outcome, durationMs, error }: CaseResult): string {
  const mark = { proven: '✓', failed: '✗', 'not provable here': '–' }[outcome];
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
