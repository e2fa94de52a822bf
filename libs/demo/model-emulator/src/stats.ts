import type { FaultPlan } from './faults';

/** Counters since the start or the last reset; the answer of `GET /_emulator/stats`. */
export interface EmulatorStats {
  /** Chat completion requests received, refused ones included. */
  readonly received: number;
  /** Received and neither finished nor broken off. */
  readonly in_flight: number;
  /** Answered to the end as intended, whatever the status. */
  readonly completed: number;
  /** The caller closed the connection before the answer was complete. */
  readonly cancelled: number;
  /** Broken off by the emulator itself, as a fault or at close. */
  readonly cut: number;
  /** Content chunks written in streams, as far as their readers took them. */
  readonly chunks: number;
  /** Answers begun, by HTTP status. */
  readonly by_status: Readonly<Record<string, number>>;
  /** Calls that got each fault, by its name. */
  readonly by_fault: Readonly<Record<string, number>>;
}

/** One request as it was seen; `GET /_emulator/requests` answers with the last of these. */
export interface SeenRequest {
  readonly sequence: number;
  readonly received_at: string;
  /** The key is replaced by its last four characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, cut at 16 Ki characters; empty until it is read. */
  body: string;
  faults: readonly string[];
  /** null: no answer begun. */
  status: number | null;
  outcome: 'in_flight' | Outcome;
}

export type Outcome = 'completed' | 'cancelled' | 'cut';

/** What a test can wait for. */
type Waiter = { readonly holds: (stats: EmulatorStats) => boolean; readonly done: () => void };

export class Statistics {
  private received = 0;
  private readonly outcomes: Record<Outcome, number> = { completed: 0, cancelled: 0, cut: 0 };
  private inFlight = 0;
  private chunks = 0;
  private byStatus: Record<string, number> = {};
  private byFault: Record<string, number> = {};
  private waiters: Waiter[] = [];

  begin(): void {
    this.received++;
    this.inFlight++;
    this.changed();
  }

  faulted(plan: FaultPlan): void {
    for (const name of plan.names) this.byFault[name] = (this.byFault[name] ?? 0) + 1;
    this.changed();
  }

  answered(status: number): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    this.changed();
  }

  wroteChunks(count: number): void {
    this.chunks += count;
    this.changed();
  }

  end(outcome: Outcome): void {
    this.inFlight--;
    this.outcomes[outcome]++;
    this.changed();
  }

  snapshot(): EmulatorStats {
    return {
      received: this.received,
      in_flight: this.inFlight,
      ...this.outcomes,
      chunks: this.chunks,
      by_status: { ...this.byStatus },
      by_fault: { ...this.byFault },
    };
  }

  /** Sets every counter to zero, except the calls that are running. */
  reset(): void {
    this.received = this.inFlight;
    this.outcomes.completed = this.outcomes.cancelled = this.outcomes.cut = 0;
    this.chunks = 0;
    this.byStatus = {};
    this.byFault = {};
    this.changed();
  }

  /** Resolves as soon as the counters satisfy `holds`. */
  until(holds: (stats: EmulatorStats) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push({ holds, done: resolve });
      this.changed();
    });
  }

  private changed(): void {
    if (this.waiters.length === 0) return;
    const stats = this.snapshot();
    this.waiters = this.waiters.filter((waiter) => {
      if (!waiter.holds(stats)) return true;
      waiter.done();
      return false;
    });
  }
}
