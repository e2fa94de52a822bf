import { gatewayBundle, startGateway } from '../gateway';
import type { Cores } from '../machine';
import { compile, measureScenario, scenarioName, SCENARIOS } from '../measure';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { targetOf } from '../targets';
import { connectProfiler, INSPECTOR_OPTIONS } from './inspector';
import { renderProfile, sharesOf } from './profile-figures';
import { sourcesOf } from './source-map';

/** Reports the gateway's CPU time by cause and file in each scenario. */
export async function runProfile(
  options: Options,
  processes: Processes,
  cores: Cores | undefined,
  say: (text: string) => void,
): Promise<string> {
  const upstream = await processes.startRole('others', 'upstream');
  const gateway = await startGateway(processes, cores, upstream.port, { nodeOptions: INSPECTOR_OPTIONS });
  const profiler = await connectProfiler(gateway.child);
  try {
    const findSource = sourcesOf(gatewayBundle());
    const target = targetOf('gateway', gateway);
    say('Warming up');
    await compile([target], options);
    const parts: string[] = [];
    for (const scenario of SCENARIOS) {
      say(`Profiling: ${scenarioName(scenario)}`);
      // CPU time is measured without the profiler, which adds overhead.
      const [row] = await measureScenario(scenario, [target], options);
      const cpu = row?.cpuMicrosecondsPerRequest ?? null;
      if (cpu === null) throw new Error('CPU time of a process is not available on this platform');
      const profile = await profiler.profile(() => measureScenario(scenario, [target], options));
      parts.push(scenarioName(scenario), renderProfile(sharesOf(profile, findSource), cpu), '');
    }
    return parts.join('\n');
  } finally {
    profiler.close();
    await processes.stop(gateway.child);
  }
}
