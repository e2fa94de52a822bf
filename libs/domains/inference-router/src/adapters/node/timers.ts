import type { Timer, Timers } from '../../core/ports';

/** Timers of the event loop. They keep no process alive: what they guard does. */
export const nodeTimers: Timers = {
  after: (ms, run) => new NodeTimer(ms, run),
};

/** A class, since a stream has two of them for as long as it is open: closures would take four times as much. */
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
