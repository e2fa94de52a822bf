import {
  Counter,
  Histogram,
  type CounterConfiguration,
  type HistogramConfiguration,
  type Registry,
} from 'prom-client';

/**
 * Instruments for the path of a request. prom-client looks labels up each time
 * that something is counted, which costs more than the counting: what is bound
 * here counts in numbers of its own, and prom-client is told of them when metrics
 * are read.
 */

export interface Tally {
  inc(by?: number): void;
}

export interface TimeTally {
  observe(value: number): void;
}

/** To be bound once for each set of labels, and kept. */
export interface Tallied<Label extends string, Bound> {
  labels(labels: Readonly<Record<Label, string>>): Bound;
}

type WithRegisters = { readonly registers: Registry[] };

export function createTalliedCounter<Label extends string = never>(
  configuration: CounterConfiguration<Label> & WithRegisters,
): Tallied<Label, Tally> {
  const tallies: CounterTally<Label>[] = [];
  new Counter<Label>({
    ...configuration,
    collect() {
      for (const tally of tallies) tally.tell(this);
    },
  });
  return {
    labels(labels) {
      const tally = new CounterTally(labels);
      tallies.push(tally);
      return tally;
    },
  };
}

class CounterTally<Label extends string> implements Tally {
  /** Undefined until something was counted, be it nothing: only then it is to be seen. */
  private untold: number | undefined;

  constructor(private readonly labels: Readonly<Record<Label, string>>) {}

  inc(by = 1): void {
    this.untold = (this.untold ?? 0) + by;
  }

  tell(counter: Counter<Label>): void {
    if (this.untold === undefined) return;
    counter.inc(this.labels, this.untold);
    this.untold = 0;
  }
}

export function createTalliedHistogram<Label extends string = never>(
  configuration: HistogramConfiguration<Label> & WithRegisters & { readonly buckets: readonly number[] },
): Tallied<Label, TimeTally> {
  const tallies: { tell(histogram: Histogram<Label>): void }[] = [];
  new Histogram<Label>({
    ...configuration,
    collect() {
      for (const tally of tallies) tally.tell(this);
    },
  });
  return {
    labels(labels) {
      const tally = new BucketTally<Label>(labels, configuration.buckets);
      tallies.push(tally);
      return tally;
    },
  };
}

/** What prom-client keeps for one set of labels. */
interface KeptValues {
  readonly labels: object;
  readonly bucketValues: Record<number, number>;
  sum: number;
  count: number;
}

class BucketTally<Label extends string> implements TimeTally {
  /** One more than there are bounds: what is above all of them. */
  private readonly untold: number[];
  private untoldSum = 0;
  private kept: KeptValues | undefined;

  constructor(
    private readonly labels: Readonly<Record<Label, string>>,
    private readonly bounds: readonly number[],
  ) {
    this.untold = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds, untold } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    untold[bucket] = (untold[bucket] as number) + 1;
    this.untoldSum += value;
  }

  tell(histogram: Histogram<Label>): void {
    const { bounds, untold } = this;
    const count = untold.reduce((sum, each) => sum + each, 0);
    if (count === 0) return;
    const kept = (this.kept ??= this.keptBy(histogram));
    bounds.forEach((bound, bucket) => {
      kept.bucketValues[bound] = (kept.bucketValues[bound] as number) + (untold[bucket] as number);
    });
    kept.count += count;
    kept.sum += this.untoldSum;
    untold.fill(0);
    this.untoldSum = 0;
  }

  /** prom-client takes one value at a time, so its numbers are added to where it keeps them. */
  private keptBy(histogram: Histogram<Label>): KeptValues {
    histogram.zero(this.labels);
    const { hashMap } = histogram as unknown as { readonly hashMap: Readonly<Record<string, KeptValues>> };
    const kept = Object.values(hashMap).find(({ labels }) => labels === this.labels);
    if (kept === undefined) throw new Error('prom-client keeps the values of a histogram elsewhere');
    return kept;
  }
}
