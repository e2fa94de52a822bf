import { errorCodes } from '@gateway/errors';
import { isClusterDeployment } from '@gateway/test-support';
import { apiDocument } from '../src/testing/api-document';
import { allCases } from './cases';
import {
  caseRunner,
  codesWithoutCase,
  coverageTable,
  duplicateTitles,
  otherFormats,
  type CaseResult,
  type Deployment,
  type Need,
  type RawRequest,
  type RawResponse,
} from './framework';
import { startOwnDeployment } from './own-deployment';

jest.setTimeout(120_000);

/**
 * The shared cluster has the models of the repository and the endpoints that are on by default; the code of the
 * dialects and formats is the same in it.
 */
const notInCluster: ReadonlySet<Need> = new Set(['dialects', ...otherFormats]);
const cases = isClusterDeployment()
  ? allCases.filter(({ needs = [] }) => !needs.some((need) => notInCluster.has(need)))
  : allCases;

describe('the public contract', () => {
  let stop: (() => Promise<void>) | undefined;
  let run: ReturnType<typeof caseRunner>;
  const results: CaseResult[] = [];
  /** Differences between responses and docs/reference/openapi.json. */
  const undocumented = new Set<string>();
  const documentedCodes = new Set<string>();

  function compareWithDocument(
    { method = 'GET', path }: RawRequest,
    { status, headers, text }: RawResponse,
  ): void {
    // The document does not describe responses without a body, unknown paths, and endpoints that are turned off.
    if (!apiDocument.describes(method, path) || text.includes('"code":"route_not_found"')) return;
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const problems = apiDocument.problemsOf({ method, path, status, headers: texts, body: text });
    for (const problem of problems) undocumented.add(problem);
    const code = /"code":"([a-z_]+)"/.exec(text)?.[1];
    if (problems.length === 0 && code !== undefined) documentedCodes.add(code);
  }

  beforeAll(async () => {
    let deployment: Deployment;
    ({ deployment, stop } = await startOwnDeployment(compareWithDocument));
    run = caseRunner(cases, deployment);
  });

  afterAll(async () => {
    console.info(coverageTable(results));
    await stop?.();
  });

  it('has a case for every error code', () => {
    expect(codesWithoutCase(allCases)).toEqual([]);
  });

  it('has unique case titles', () => {
    expect(duplicateTitles(allCases)).toEqual([]);
  });

  it.each(
    cases.map((one) => [`§${one.section} ${one.code ? `${one.code}: ` : ''}${one.title}`, one] as const),
  )('%s', async (_, one) => {
    const result = await run(one);
    results.push(result);
    if (result.outcome === 'failed') throw result.error;
    expect(result.outcome).toBe('passed');
  });

  it('every response in this suite conforms to docs/reference/openapi.json', () => {
    expect([...undocumented]).toEqual([]);
    expect(errorCodes.filter((code) => !documentedCodes.has(code))).toEqual(['route_not_found']);
  });
});
