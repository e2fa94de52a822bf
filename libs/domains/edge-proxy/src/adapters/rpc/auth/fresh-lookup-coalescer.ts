interface Lookup<Result> {
  readonly result: Promise<Result>;
  /** Starts when `result` has settled; shared by all callers that arrive in the meantime. */
  next?: Promise<Result>;
}

/**
 * Limits lookups to one in flight per key, without stale results. Late callers
 * cannot join the lookup in flight, since its result may be older than their
 * call: they share the next one. Results are not cached.
 */
export class FreshLookupCoalescer<Result> {
  private readonly inFlight = new Map<string, Lookup<Result>>();

  lookup(key: string, run: () => Promise<Result>): Promise<Result> {
    const current = this.inFlight.get(key);
    if (current === undefined) return this.start(key, run);
    const start = () => this.start(key, run);
    return (current.next ??= current.result.then(start, start));
  }

  private start(key: string, run: () => Promise<Result>): Promise<Result> {
    const lookup: Lookup<Result> = { result: run() };
    this.inFlight.set(key, lookup);
    const finish = (): void => {
      if (lookup.next === undefined && this.inFlight.get(key) === lookup) this.inFlight.delete(key);
    };
    lookup.result.then(finish, finish);
    return lookup.result;
  }
}
