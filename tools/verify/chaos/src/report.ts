import { markdownTable } from '@gateway/test-support';
import type { Audit } from './audit';
import type { Fault } from './faults';
import type { Impact } from './timeline';

export interface Broken {
  readonly fault: Fault;
  readonly impact: Impact;
}

/** What one of two replicas has to keep up. */
const MIN_SHARE = 0.5;

/** What the promise does not allow, of the requests alone. */
export function faultsOfImpacts(
  broken: readonly Broken[],
  { judgesThroughput }: { readonly judgesThroughput: boolean },
): string[] {
  return broken.flatMap(({ fault, impact }) => {
    const faults: string[] = [];
    if (judgesThroughput && fault.hasDouble && impact.worstShare < MIN_SHARE) {
      faults.push(`${fault.name}: throughput fell to ${percent(impact.worstShare)} after three seconds`);
    }
    const late = impact.errors['late'] ?? 0;
    if (late > 0) faults.push(`${fault.name}: ${late} requests got no answer in time`);
    const lost = impact.errors['lost'] ?? 0;
    if (lost > 0 && !fault.touchesClients)
      faults.push(`${fault.name}: ${lost} connections of clients were lost`);
    return faults;
  });
}

export function renderTable(broken: readonly Broken[]): string {
  const rows = broken.map(({ fault, impact }) => [
    fault.name,
    String(impact.requests),
    errorsOf(impact.errors),
    seconds(impact.longestGapMs),
    seconds(impact.recoveryMs),
    percent(impact.worstShare),
  ]);
  const header = ['fault', 'requests', 'errors by code', 'longest gap', 'recovery', 'worst share after 3 s'];
  return markdownTable([header, ...rows]);
}

export function renderBooks({ figures, faults }: Audit): string {
  const { requests, answered, provided, settled, chargedNanoUsd, absorbed } = figures;
  const sum =
    `${requests} requests, ${answered} answered; the provider was called ${provided} times; ` +
    `${settled} generations settled for ${chargedNanoUsd} nano-dollars; ` +
    `${absorbed} answers came too late or were lost with a process that ended, and charged to nobody.`;
  if (faults.length === 0) return `${sum}\nThe books are exact.`;
  return `${sum}\n${faults.map((fault) => `  ✗ ${fault}`).join('\n')}`;
}

function errorsOf(errors: Readonly<Record<string, number>>): string {
  const entries = Object.entries(errors).sort(([, a], [, b]) => b - a);
  return entries.length === 0 ? '–' : entries.map(([code, count]) => `${code} ${count}`).join(', ');
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
