import type { Incident } from '@gateway/base';
import { createSilentLogger } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { createIncidentReporter } from './incident-reporter';

const incident: Incident = { cause: 'dead_letters', subject: 's', details: 'd' };

function reporter(read: () => readonly Incident[]) {
  const reports: (readonly { readonly cause: string }[])[] = [];
  let failures = 0;
  const task = createIncidentReporter({
    modules: [{ name: 'ledger', incidents: read }, { name: 'without' }],
    incidents: {
      reportIncidents: async ({ incidents }) => {
        if (failures > 0) {
          failures -= 1;
          throw new Error('auth is unavailable');
        }
        reports.push(incidents);
        return {};
      },
    },
    log: createSilentLogger(),
    intervalMs: 1,
  });
  return { task, reports, fail: (count: number) => (failures = count) };
}

it('incidents are reported again until they end, also after auth was unavailable', async () => {
  const { task, reports, fail } = reporter(() => [incident]);
  fail(2);
  task.start();
  await eventually('two reports', async () => (reports.length >= 2 ? true : undefined));
  await task.stop();
  expect(reports[0]).toEqual([incident]);
});

it('nothing is reported without an incident', async () => {
  let reads = 0;
  const { task, reports } = reporter(() => ((reads += 1), []));
  task.start();
  await eventually('several rounds', async () => (reads >= 3 ? true : undefined));
  await task.stop();
  expect(reports).toEqual([]);
});

it('a module whose incidents cannot be read keeps its incidents', async () => {
  let fails = false;
  const { task, reports } = reporter(() => {
    if (fails) throw new Error('the database is unavailable');
    fails = true;
    return [incident];
  });
  task.start();
  await eventually('two reports', async () => (reports.length >= 2 ? true : undefined));
  await task.stop();
  expect(reports[1]).toEqual([incident]);
});
