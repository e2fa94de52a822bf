import type { Row } from '../measure';
import { renderDeployments, type DeploymentFigures } from './deployments';

const row = (scenario: string, figures: Partial<Row>): Row => ({
  scenario,
  target: 'gateway',
  requests: 100,
  requestsPerSecond: 1_000,
  chunksPerSecond: 0,
  p50Ms: 1,
  p99Ms: 2,
  firstByteP50Ms: null,
  cpuMicrosecondsPerRequest: 200,
  databaseCpuMicrosecondsPerRequest: 90,
  residentMiB: null,
  ...figures,
});

const deployment = (
  name: string,
  rows: readonly Row[],
  areChargesExact = true,
  cpuMicrosecondsPerChunk: number | null = null,
): DeploymentFigures => ({
  name,
  rows,
  cpuMicrosecondsPerChunk,
  areChargesExact,
});

const SCENARIO = 'non-streaming, c=32';
const ONE = deployment('one process', [row(SCENARIO, {})]);
const TWO = deployment('cluster, 2', [
  row(SCENARIO, {
    requestsPerSecond: 1_900,
    p50Ms: 0.86,
    cpuMicrosecondsPerRequest: 250,
  }),
]);

it('compares each deployment with the first', () => {
  const text = renderDeployments([ONE, TWO]);
  expect(text).toContain('| one process | 1000 | 1.00 | 1.0 | 2.0 | 200 | 1.00 | 90 |');
  expect(text).toContain('| cluster, 2 | 1900 | 1.90 | 0.9 | 2.0 | 250 | 1.25 | 90 |');
});

it('compares the chunks of open streams', () => {
  const [one, two] = [deployment('one process', [], true, 40), deployment('cluster, 2', [], true, 90)];
  expect(renderDeployments([one, two])).toContain('| cluster, 2 | 90.0 | 2.25 |');
});

it('shows a dash for figures that could not be measured', () => {
  const unknown = deployment('elsewhere', [
    row(SCENARIO, { cpuMicrosecondsPerRequest: null, databaseCpuMicrosecondsPerRequest: null }),
  ]);
  expect(renderDeployments([ONE, unknown])).toContain('| elsewhere | 1000 | 1.00 | 1.0 | 2.0 | – | – | – |');
});

it('names the deployments with wrong charges', () => {
  expect(renderDeployments([ONE, TWO])).toContain('Charges are exact in every deployment.');
  expect(renderDeployments([ONE, deployment('cluster, 2', [], false)])).toContain(
    'Charges are wrong in: cluster, 2',
  );
});
