import type { Timer, Timers } from '../../core/ports';

/** Timers of the event loop. They do not keep the process running. */
export const nodeTimers: Timers = {
  after: (ms, run) => new NodeTimer(ms, run),
};

/** A class: every open stream holds two timers, and closures would use four times the memory. */
class NodeTimer implements Timer {
  private readonly timeout: NodeJS.Timeout;

  constructor(ms: number, run: () => void) {
    this.timeout = setTimeout(run, ms);
    this.timeout.unref();
  }

  restart(): void {
    this.timeout.refresh();
  }

  cancel(): void {
    clearTimeout(this.timeout);
  }
}
