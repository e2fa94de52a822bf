import { eventually, startOtlpReceiver } from '@gateway/test-support';
import { clusterArguments } from '../cluster/measure-clusters';
import { startGateway } from '../gateway';
import { measureScenario } from '../measure';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { targetOf } from '../targets';
import { criticalPath, renderCriticalPath } from './critical-path';

/** Of the usage-aggregator. */
const LAST_STEP = 'process generation.settled';
const SCENARIO = { kind: 'non-streaming', connections: 1 } as const;

/** Reports when each step of a request starts in a cluster, and how long it takes. Tracing itself adds to each. */
export async function runTrace(
  options: Options,
  processes: Processes,
  say: (text: string) => void,
): Promise<string> {
  const receiver = await startOtlpReceiver();
  try {
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
    process.env['OTEL_BSP_SCHEDULE_DELAY'] = '100';
    const upstream = await processes.startRole('others', 'upstream');
    const gateway = await startGateway(processes, undefined, upstream.port, {
      clusterArguments: clusterArguments(1),
    });
    const target = targetOf('cluster', gateway);
    say('Warming up');
    await measureScenario(SCENARIO, [target], { ...options, windowMs: options.compileMs });
    const before = receiver.spans.length;
    say('Tracing');
    const [row] = await measureScenario(SCENARIO, [target], options);
    await eventually('the spans are received', async () => {
      const finished = receiver.spans.slice(before).filter(({ name }) => name === LAST_STEP);
      return finished.length >= (row?.requests ?? 0) ? true : undefined;
    });
    return renderCriticalPath(criticalPath(receiver.spans.slice(before)));
  } finally {
    await receiver.close();
  }
}
