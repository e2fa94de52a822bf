import { errorCodes, type ErrorCode } from '@gateway/errors';
import { alignedTable } from '@gateway/test-support';
import { sections, type ConformanceCase, type Section } from './case';
import type { Deployment } from './deployment';

type Outcome = 'passed' | 'failed' | 'skipped';

export interface CaseResult {
  readonly conformanceCase: ConformanceCase;
  readonly outcome: Outcome;
  readonly error?: unknown;
  readonly durationMs: number;
}

export interface RunOptions {
  /**
   * How often a case runs again after a connection to the deployment broke. For connections through `kubectl
   * port-forward`, which closes some of them under load.
   */
  readonly connectionRetries?: number;
}

async function runCase(
  one: ConformanceCase,
  deployment: Deployment,
  { connectionRetries = 0 }: RunOptions,
): Promise<CaseResult> {
  const startedAt = performance.now();
  const result = (outcome: Outcome, error?: unknown): CaseResult => ({
    conformanceCase: one,
    outcome,
    ...(error === undefined ? {} : { error }),
    durationMs: Math.round(performance.now() - startedAt),
  });
  if (one.needs?.some((need) => !deployment.has(need))) return result('skipped');
  for (let retries = 0; ; retries += 1) {
    try {
      await one.verify(deployment);
      return result('passed');
    } catch (error) {
      if (retries === connectionRetries || !isConnectionError(error)) return result('failed', error);
    }
  }
}

/** Codes of node:http and of `fetch` for a connection that was closed before the response was complete. */
const CONNECTION_ERROR_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** `fetch` throws a TypeError whose cause has the code. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    CONNECTION_ERROR_CODES.has((error as NodeJS.ErrnoException).code ?? '') || isConnectionError(error.cause)
  );
}

/**
 * Starts all concurrent cases immediately. The returned function waits for a started case,
 * or runs another one.
 */
export function caseRunner(
  cases: readonly ConformanceCase[],
  deployment: Deployment,
  options: RunOptions = {},
): (one: ConformanceCase) => Promise<CaseResult> {
  const started = new Map(
    cases
      .filter(({ concurrent }) => concurrent)
      .map((one) => [one, runCase(one, deployment, options)] as const),
  );
  return (one) => started.get(one) ?? runCase(one, deployment, options);
}

/** Error codes without a case. */
export function codesWithoutCase(cases: readonly ConformanceCase[]): readonly ErrorCode[] {
  const shown = new Set(cases.map(({ code }) => code));
  return errorCodes.filter((code) => !shown.has(code));
}

/** Titles that occur more than once in a section. */
export function duplicateTitles(cases: readonly ConformanceCase[]): readonly string[] {
  const seen = new Set<string>();
  return cases
    .map(({ section, title }) => `${section}: ${title}`)
    .filter((name) => seen.size === seen.add(name).size);
}

/** A table of results per section, and the number of covered error codes. */
export function coverageTable(results: readonly CaseResult[]): string {
  const rows = (Object.keys(sections) as Section[]).map((section) => {
    const ofSection = results.filter(({ conformanceCase }) => conformanceCase.section === section);
    const count = (outcome: Outcome) =>
      String(ofSection.filter((result) => result.outcome === outcome).length);
    return [`${section}. ${sections[section]}`, count('passed'), count('failed'), count('skipped')];
  });
  const passed = new Set(
    results.filter(({ outcome }) => outcome === 'passed').map(({ conformanceCase }) => conformanceCase.code),
  );
  const codes = errorCodes.filter((code) => passed.has(code)).length;
  return [
    alignedTable([['Section', 'passed', 'failed', 'skipped'], ...rows], 1),
    `Error codes covered: ${codes} of ${errorCodes.length}`,
  ].join('\n');
}
