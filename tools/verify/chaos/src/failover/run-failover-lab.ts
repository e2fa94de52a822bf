import type { ChaosTestEnvOptions } from '../chaos-test-env';
import type { Options } from '../options';
import type { FaultResult } from '../report';
import { runChaos, type ChaosResult } from '../run';
import { KAFKA_SCENARIOS } from './kafka-scenarios';
import { POSTGRES_SCENARIOS } from './postgres-scenarios';
import { REDIS_SCENARIOS } from './redis-scenarios';
import type { FailoverLab, Scenario } from './scenario';

/** The scenarios of each datastore. */
const SCENARIOS: readonly Scenario[] = [...REDIS_SCENARIOS, ...KAFKA_SCENARIOS, ...POSTGRES_SCENARIOS];

/** The longest time without a response that a failover may cause. */
const MAX_OUTAGE_MS = 5_000;

/** Runs the scenarios one after another, each with a cluster of its own, or those of `only` with one cluster. */
export async function runFailoverLab(
  options: Options,
  testEnvOptions: ChaosTestEnvOptions,
  say: (text: string) => void,
): Promise<readonly { readonly scenario: string; readonly result: ChaosResult }[]> {
  const { only } = options;
  const chosen = only === undefined ? SCENARIOS : [together(only.split('+').map(scenarioOf))];
  const lab: FailoverLab = {
    async runUnderLoad(datastores, faults) {
      const result = await runChaos(
        { ...options, only: '' },
        { ...testEnvOptions, ...datastores },
        say,
        () => faults,
      );
      if (!options.checksThroughput) return result;
      const problems = [...result.audit.problems, ...result.results.flatMap(problemsOfOutage)];
      return { ...result, audit: { ...result.audit, problems } };
    },
  };
  const results: { scenario: string; result: ChaosResult }[] = [];
  for (const { name, run } of chosen) {
    say(`scenario ${name}`);
    results.push({ scenario: name, result: await run(lab) });
  }
  return results;
}

function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found) return found;
  const names = SCENARIOS.map((scenario) => scenario.name).join(', ');
  throw new Error(`--only: no scenario is named '${name}'. There are: ${names}`);
}

/** One scenario with the datastores of all, and with their faults one after another. */
function together(scenarios: readonly Scenario[]): Scenario {
  return scenarios.reduce((first, second) => ({
    name: `${first.name}+${second.name}`,
    run: (lab) =>
      first.run({
        runUnderLoad: (datastores, faults) =>
          second.run({
            runUnderLoad: (more, moreFaults) => {
              const twice = Object.keys(more).find((datastore) => datastore in datastores);
              if (twice !== undefined) throw new Error(`--only: more than one scenario replaces ${twice}`);
              return lab.runUnderLoad({ ...datastores, ...more }, [...faults, ...moreFaults]);
            },
          }),
      }),
  }));
}

function problemsOfOutage({ fault, impact }: FaultResult): string[] {
  if (impact.longestOutageMs < MAX_OUTAGE_MS) return [];
  return [`${fault.name}: no responses for ${impact.longestOutageMs} ms`];
}
