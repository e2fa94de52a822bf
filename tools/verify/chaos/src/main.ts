import { createWriteStream } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createLogger } from '@gateway/runtime';
import { readOptionsOrExit } from '@gateway/test-support';
import { runFailoverLab } from './failover/run-failover-lab';
import { readOptions, USAGE } from './options';
import { renderAudit, renderTable } from './report';
import { runChaos } from './run';

async function main(): Promise<number> {
  const options = readOptionsOrExit(() => readOptions(process.argv.slice(2)), USAGE);
  const logFile = path.join(os.tmpdir(), `gateway-chaos-${options.seed}.log`);
  const lines = createWriteStream(logFile);
  const onLine = (replica: string, line: string): void => void lines.write(`${replica} ${line}\n`);
  const log = createLogger({
    name: 'chaos',
    level: 'info',
    pretty: false,
    destination: { write: (line) => onLine('cluster', line.trimEnd()) },
  });
  const startedMs = Date.now();
  const say = (text: string): void => {
    const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0).padStart(4);
    process.stdout.write(`${seconds} s  ${text}\n`);
    onLine('chaos', text);
  };
  say(`seed ${options.seed}; logs are in ${logFile}`);
  const programs = path.resolve(__dirname, '..');
  const testEnvOptions = { seed: options.seed, programs, onLine, log };
  if (options.lab === 'failover') {
    const scenarios = await runFailoverLab(options, testEnvOptions, say);
    for (const { scenario, result } of scenarios)
      process.stdout.write(
        `\n${scenario}\n\n${renderTable(result.results)}\n\n${renderAudit(result.audit)}\n`,
      );
    lines.end();
    return scenarios.some(({ result }) => result.audit.problems.length > 0) ? 1 : 0;
  }
  const { results, audit } = await runChaos(options, testEnvOptions, say);
  process.stdout.write(`\n${renderTable(results)}\n\n${renderAudit(audit)}\n`);
  if (audit.problems.length > 0)
    process.stdout.write(`\nTo reproduce: npm run chaos -- --seed ${options.seed}\n`);
  lines.end();
  return audit.problems.length > 0 ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
