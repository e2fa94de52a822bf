import { startGateway } from '../gateway';
import type { Cores } from '../machine';
import { compile, measureScenario } from '../measure';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { openBenchDatabase } from '../bench-database';
import { targetOf } from '../targets';
import { renderStatements, startCounting, STATEMENT_SETTINGS } from './statement-figures';

const CONNECTIONS = [1, 32];

/** Reports the SQL statements that the gateway executes per request. */
export async function runStatements(
  options: Options,
  processes: Processes,
  cores: Cores | undefined,
): Promise<string> {
  const upstream = await processes.startRole('others', 'upstream');
  const database = await openBenchDatabase({ max_connections: '200', ...STATEMENT_SETTINGS });
  try {
    const gateway = await startGateway(processes, cores, upstream.port, { database });
    try {
      const target = targetOf('gateway', gateway);
      await compile([target], options);
      const parts: string[] = [];
      for (const connections of CONNECTIONS) {
        const before = target.tally.responses;
        const counting = await startCounting(database.adminUrl);
        await measureScenario({ kind: 'non-streaming', connections }, [target], options);
        // Work after a response is complete when there are no holds.
        await gateway.finalBalance();
        const requests = target.tally.responses - before;
        parts.push(`c=${connections}, ${requests.toLocaleString('en')} non-streaming requests`);
        parts.push(renderStatements(await counting.read(), requests), '');
      }
      return parts.join('\n');
    } finally {
      await processes.stop(gateway.child);
    }
  } finally {
    await database.remove();
  }
}
