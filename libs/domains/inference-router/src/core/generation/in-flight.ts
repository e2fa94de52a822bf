interface Entry {
  /** Undefined once it has ended: a set may keep hold of an entry for a while after its deletion. */
  cancel: (() => void) | undefined;
}

/**
 * The generations under way. A stop lets none begin, waits for those that run,
 * and in the end cancels those that still run.
 */
export class InFlight {
  private readonly running = new Set<Entry>();
  private stopping = false;
  private onEmpty: (() => void) | undefined;

  /**
   * @param cancel called when the time to drain is over.
   * @returns its release, safe to call twice; undefined when none may begin any more.
   */
  enter(cancel: () => void): (() => void) | undefined {
    if (this.stopping) return undefined;
    const entry: Entry = { cancel };
    this.running.add(entry);
    return () => {
      entry.cancel = undefined;
      this.running.delete(entry);
      if (this.running.size === 0) this.onEmpty?.();
    };
  }

  get size(): number {
    return this.running.size;
  }

  /** Resolves when nothing is under way. */
  drain(): Promise<void> {
    this.stopping = true;
    if (this.running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onEmpty = resolve;
    });
  }

  cancelAll(): void {
    for (const entry of [...this.running]) entry.cancel?.();
  }
}
