import type { Timers } from '../../core/ports';

/** Timers of the event loop. They keep no process alive: what they guard does. */
export const nodeTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { restart: () => void timer.refresh(), cancel: () => clearTimeout(timer) };
  },
};
