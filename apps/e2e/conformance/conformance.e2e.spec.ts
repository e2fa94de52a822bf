import { errorCodes } from '@gateway/errors';
import { apiDocument } from '../src/testing/api-document';
import { allCases } from './cases';
import {
  caseRunner,
  codesWithoutCase,
  coverageTable,
  duplicateLines,
  type CaseResult,
  type Deployment,
  type RawRequest,
  type RawResponse,
} from './framework';
import { startOwnDeployment } from './own-deployment';

jest.setTimeout(120_000);

describe('the public contract', () => {
  let stop: (() => Promise<void>) | undefined;
  let run: ReturnType<typeof caseRunner>;
  const results: CaseResult[] = [];
  /** What answers have that docs/reference/openapi.json does not tell, or tells otherwise. */
  const undocumented = new Set<string>();
  const documentedCodes = new Set<string>();

  function judge({ method = 'GET', path }: RawRequest, { status, headers, text }: RawResponse): void {
    // Answers without a body, and to what is no endpoint, are none of the document's.
    if (!apiDocument.describes(method, path)) return;
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const faults = apiDocument.faultsOf({ method, path, status, headers: texts, body: text });
    for (const fault of faults) undocumented.add(fault);
    const code = /"code":"([a-z_]+)"/.exec(text)?.[1];
    if (faults.length === 0 && code !== undefined) documentedCodes.add(code);
  }

  beforeAll(async () => {
    let deployment: Deployment;
    ({ deployment, stop } = await startOwnDeployment(judge));
    run = caseRunner(allCases, deployment);
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
    const result = await run(one);
    results.push(result);
    if (result.outcome === 'failed') throw result.error;
    expect(result.outcome).toBe('proven');
  });

  it('answers every one of these requests as docs/reference/openapi.json says, member by member', () => {
    expect([...undocumented]).toEqual([]);
    expect(errorCodes.filter((code) => !documentedCodes.has(code))).toEqual(['route_not_found']);
  });
});
