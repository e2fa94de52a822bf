import type { Clock } from '@gateway/base';

export interface FailureWindowOptions {
  /** More than this share of the calls in the window must have failed, in percent. */
  readonly failurePercent: number;
  /** Fewer calls than this in the window say nothing. */
  readonly minCalls: number;
  readonly windowMs: number;
}

/** Organizations told apart in one window. What comes beyond is counted together, as if it were one. */
export const MAX_ORGANIZATIONS = 1_000;
const OTHERS = '';

const SLICES = 10;

interface Counts {
  calls: number;
  failures: number;
}

interface Slice {
  readonly startedAt: number;
  readonly byOrganization: Map<string, Counts>;
}

/**
 * The calls to a target in the last moments and how many of them failed, by
 * organization. It answers two questions, so that no organization can make a
 * target look broken to the others: is it failing for one, by that one's calls
 * alone; and is it failing for all, which it is only if it still would be with
 * any one organization left out.
 */
export class FailureWindow {
  private readonly slices: Slice[] = [];
  private readonly totals = new Map<string, Counts>();
  private readonly sliceMs: number;

  constructor(
    private readonly options: FailureWindowOptions,
    private readonly clock: Clock,
  ) {
    this.sliceMs = options.windowMs / SLICES;
  }

  /** Organizations with calls in the window. */
  get organizations(): number {
    return this.totals.size;
  }

  count(organizationId: string, failed: boolean): void {
    const { byOrganization } = this.slice();
    const isKnown = this.totals.has(organizationId);
    const name = isKnown || this.totals.size < MAX_ORGANIZATIONS ? organizationId : OTHERS;
    add(byOrganization, name, failed);
    add(this.totals, name, failed);
  }

  isFailingFor(organizationId: string): boolean {
    this.slice();
    const counts = this.totals.get(organizationId);
    return counts !== undefined && this.isFailing(counts.calls, counts.failures);
  }

  isFailingForAll(): boolean {
    this.slice();
    let calls = 0;
    let failures = 0;
    for (const counts of this.totals.values()) {
      calls += counts.calls;
      failures += counts.failures;
    }
    for (const left of this.totals.values()) {
      if (!this.isFailing(calls - left.calls, failures - left.failures)) return false;
    }
    return calls > 0;
  }

  clear(): void {
    this.slices.length = 0;
    this.totals.clear();
  }

  /** Forgets the calls of one organization. */
  forget(organizationId: string): void {
    this.totals.delete(organizationId);
    for (const { byOrganization } of this.slices) byOrganization.delete(organizationId);
  }

  private isFailing(calls: number, failures: number): boolean {
    return calls >= this.options.minCalls && failures * 100 > calls * this.options.failurePercent;
  }

  /** The slice of now, after what is too old was forgotten. */
  private slice(): Slice {
    const now = this.clock.now();
    let last = this.slices.at(-1);
    // A clock that was set back would keep what it counted for as long.
    if (last && now < last.startedAt) {
      this.clear();
      last = undefined;
    }
    while (this.slices[0] && this.slices[0].startedAt + this.options.windowMs <= now) this.dropOldest();
    if (last && now < last.startedAt + this.sliceMs) return last;
    const slice: Slice = { startedAt: now, byOrganization: new Map() };
    this.slices.push(slice);
    return slice;
  }

  private dropOldest(): void {
    for (const [organizationId, { calls, failures }] of this.slices.shift()?.byOrganization ?? []) {
      const total = this.totals.get(organizationId);
      if (!total) continue;
      total.calls -= calls;
      total.failures -= failures;
      if (total.calls === 0) this.totals.delete(organizationId);
    }
  }
}

function add(counts: Map<string, Counts>, organizationId: string, failed: boolean): void {
  let of = counts.get(organizationId);
  if (!of) {
    of = { calls: 0, failures: 0 };
    counts.set(organizationId, of);
  }
  of.calls += 1;
  if (failed) of.failures += 1;
}
