import type { Usage } from './completion';
import type { FaultPlan } from './faults';

/** Counters since the start or the last reset; the response of `GET /_emulator/stats`. */
export interface EmulatorStats {
  /** Received chat completion requests, including rejected ones. */
  readonly received: number;
  /** Calls that have not ended. */
  readonly in_flight: number;
  /** Complete responses, of any status. */
  readonly completed: number;
  /** The client closed the connection before the response was complete. */
  readonly cancelled: number;
  /** The emulator closed the connection, by a fault or when it stopped. */
  readonly cut: number;
  /** Content chunks that were written to streams. */
  readonly chunks: number;
  /** Started responses, by HTTP status. */
  readonly by_status: Readonly<Record<string, number>>;
  /** Calls by injected fault. */
  readonly by_fault: Readonly<Record<string, number>>;
}

/** A recorded request; `GET /_emulator/requests` returns the most recent ones. */
export interface SeenRequest {
  readonly sequence: number;
  readonly received_at: string;
  /** The API key is reduced to its last four characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, truncated to 16 Ki characters; empty until it has been read. */
  body: string;
  faults: readonly string[];
  /** The tokens of the completion, also where a fault hides or falsifies them; null: none was composed. */
  usage: Usage | null;
  /** null: no response was started. */
  status: number | null;
  outcome: 'in_flight' | Outcome;
}

export type Outcome = 'completed' | 'cancelled' | 'cut';

/** A pending `until`. */
type Waiter = { readonly holds: (stats: EmulatorStats) => boolean; readonly done: () => void };

export class Statistics {
  private received = 0;
  private readonly outcomes: Record<Outcome, number> = { completed: 0, cancelled: 0, cut: 0 };
  private inFlight = 0;
  private chunks = 0;
  private byStatus: Record<string, number> = {};
  private byFault: Record<string, number> = {};
  private waiters: Waiter[] = [];

  callStarted(): void {
    this.received++;
    this.inFlight++;
    this.changed();
  }

  faultsInjected(plan: FaultPlan): void {
    for (const name of plan.names) this.byFault[name] = (this.byFault[name] ?? 0) + 1;
    this.changed();
  }

  responded(status: number): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    this.changed();
  }

  wroteChunks(count: number): void {
    this.chunks += count;
    this.changed();
  }

  callEnded(outcome: Outcome): void {
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

  /** Resets all counters, except the calls in flight. */
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
