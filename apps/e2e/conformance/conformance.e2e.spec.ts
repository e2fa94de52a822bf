import { allCases } from './cases';
import {
  codesWithoutCase,
  coverageTable,
  duplicateLines,
  runCase,
  type CaseResult,
  type Deployment,
} from './framework';
import { startOwnDeployment } from './own-deployment';

jest.setTimeout(120_000);

describe('the public contract', () => {
  let deployment: Deployment;
  let stop: (() => Promise<void>) | undefined;
  const results: CaseResult[] = [];

  beforeAll(async () => {
    ({ deployment, stop } = await startOwnDeployment());
  });

  afterAll(async () => {
    console.info(coverageTable(results));
    await stop?.();
  });

  it('has a case for every code of the catalogue', () => {
    expect(codesWithoutCase(allCases)).toEqual([]);
  });

  it('proves each line in one place', () => {
    expect(duplicateLines(allCases)).toEqual([]);
  });

  it.each(
    allCases.map((one) => [`§${one.section} ${one.code ? `${one.code}: ` : ''}${one.line}`, one] as const),
  )('%s', async (_, one) => {
    const result = await runCase(one, deployment);
    results.push(result);
    if (result.outcome === 'failed') throw result.error;
    expect(result.outcome).toBe('proven');
  });
});
