import { errorCodes, type ErrorCode } from '@gateway/errors';
import { sections, type ConformanceCase, type Section } from './case';
import type { Deployment } from './deployment';

type Outcome = 'proven' | 'failed' | 'not provable here';

export interface CaseResult {
  readonly conformanceCase: ConformanceCase;
  readonly outcome: Outcome;
  readonly error?: unknown;
  readonly durationMs: number;
}

async function runCase(one: ConformanceCase, deployment: Deployment): Promise<CaseResult> {
  const startedAt = performance.now();
  const result = (outcome: Outcome, error?: unknown): CaseResult => ({
    conformanceCase: one,
    outcome,
    ...(error === undefined ? {} : { error }),
    durationMs: Math.round(performance.now() - startedAt),
  });
  if (one.needs?.some((need) => !deployment.has(need))) return result('not provable here');
  try {
    await one.prove(deployment);
    return result('proven');
  } catch (error) {
    return result('failed', error);
  }
}

/**
 * Starts the cases that mostly wait, all at once, and gives what runs a case:
 * those that were started are awaited, the others run when asked for.
 */
export function caseRunner(
  cases: readonly ConformanceCase[],
  deployment: Deployment,
): (one: ConformanceCase) => Promise<CaseResult> {
  const started = new Map(
    cases.filter(({ waits }) => waits).map((one) => [one, runCase(one, deployment)] as const),
  );
  return (one) => started.get(one) ?? runCase(one, deployment);
}

/** Codes of the catalogue that no case shows. */
export function codesWithoutCase(cases: readonly ConformanceCase[]): readonly ErrorCode[] {
  const shown = new Set(cases.map(({ code }) => code));
  return errorCodes.filter((code) => !shown.has(code));
}

/** Lines that two cases of a section claim; each line is proven in one place. */
export function duplicateLines(cases: readonly ConformanceCase[]): readonly string[] {
  const seen = new Set<string>();
  return cases
    .map(({ section, line }) => `${section}: ${line}`)
    .filter((name) => seen.size === seen.add(name).size);
}

/** The coverage table: one row per section, then codes. */
export function coverageTable(results: readonly CaseResult[]): string {
  const rows = (Object.keys(sections) as Section[]).map((section) => {
    const mine = results.filter(({ conformanceCase }) => conformanceCase.section === section);
    const count = (outcome: Outcome) => String(mine.filter((result) => result.outcome === outcome).length);
    return [`${section}. ${sections[section]}`, count('proven'), count('failed'), count('not provable here')];
  });
  const proven = new Set(
    results.filter(({ outcome }) => outcome === 'proven').map(({ conformanceCase }) => conformanceCase.code),
  );
  const codes = errorCodes.filter((code) => proven.has(code)).length;
  return [
    table([['Section', 'proven', 'failed', 'not provable here'], ...rows]),
    `Error codes proven: ${codes} of ${errorCodes.length}`,
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}
