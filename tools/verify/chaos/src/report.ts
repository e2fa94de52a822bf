import { markdownTable } from '@gateway/test-support';
import type { Audit } from './audit';
import type { Fault } from './faults';
import type { Impact } from './timeline';

export interface FaultResult {
  readonly fault: Fault;
  readonly impact: Impact;
}

/** Minimum throughput with one of two replicas, as a share of normal. */
const MIN_THROUGHPUT = 0.5;

/** Violated guarantees of availability. */
export function problemsOfImpacts(
  results: readonly FaultResult[],
  { checksThroughput }: { readonly checksThroughput: boolean },
): string[] {
  return results.flatMap(({ fault, impact }) => {
    const problems: string[] = [];
    if (checksThroughput && fault.hasAnotherReplica && impact.lowestThroughput < MIN_THROUGHPUT) {
      problems.push(
        `${fault.name}: throughput fell to ${percent(impact.lowestThroughput)} of normal after 3 s`,
      );
    }
    const timedOut = impact.errors['timed out'] ?? 0;
    if (timedOut > 0) problems.push(`${fault.name}: ${timedOut} requests timed out`);
    const disconnected = impact.errors['disconnected'] ?? 0;
    if (disconnected > 0 && !fault.closesClientConnections)
      problems.push(`${fault.name}: ${disconnected} client connections were closed`);
    return problems;
  });
}

export function renderTable(results: readonly FaultResult[]): string {
  const rows = results.map(({ fault, impact }) => [
    fault.name,
    String(impact.requests),
    errorsOf(impact.errors),
    seconds(impact.longestOutageMs),
    seconds(impact.recoveryMs),
    percent(impact.lowestThroughput),
  ]);
  const header = [
    'fault',
    'requests',
    'errors by code',
    'longest outage',
    'recovery',
    'lowest throughput after 3 s',
  ];
  return markdownTable([header, ...rows]);
}

export function renderAudit({ figures, problems }: Audit): string {
  const { requests, completed, provided, settled, chargedNanoUsd, priceChanges, uncharged } = figures;
  const sum =
    `${requests} requests, ${completed} completed; ${provided} calls to the provider;  ` +
    `${settled} generations settled for ${chargedNanoUsd} nano-dollars at ${priceChanges + 1} versions of the prices; ` +
    `${uncharged} responses were too late or lost in a killed process, and were not charged.`;
  if (problems.length === 0) return `${sum}\nThe ledger is exact.`;
  return `${sum}\n${problems.map((problem) => `  ✗ ${problem}`).join('\n')}`;
}

function errorsOf(errors: Readonly<Record<string, number>>): string {
  const entries = Object.entries(errors).sort(([, a], [, b]) => b - a);
  return entries.length === 0 ? '–' : entries.map(([code, count]) => `${code} ${count}`).join(', ');
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
