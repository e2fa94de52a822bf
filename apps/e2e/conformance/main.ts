import { parseArgs } from 'node:util';
import { allCases } from './cases';
import {
  codesWithoutCase,
  coverageTable,
  openDeployment,
  runCase,
  type CaseResult,
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

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      'dashboard-url': { type: 'string' },
      email: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
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
  for (const one of allCases) {
    const title = `§${one.section} ${one.code ? `${one.code}: ` : ''}${one.line}`;
    if (!title.includes(values.only)) continue;
    const result = await runCase(one, deployment);
    results.push(result);
    process.stdout.write(
      `${{ proven: '✓', failed: '✗', 'not provable here': '–' }[result.outcome]} ${title}\n`,
    );
    if (result.error)
      process.stdout.write(`    ${String((result.error as Error).message).replaceAll('\n', '\n    ')}\n`);
  }
  process.stdout.write(`\n${coverageTable(results)}\n`);
  const missing = codesWithoutCase(allCases);
  if (missing.length > 0) process.stdout.write(`Codes without a case: ${missing.join(', ')}\n`);
  return missing.length > 0 || results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
