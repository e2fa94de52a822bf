import { withTokenMargin } from '@gateway/base';
/** The hold of a stream that covers a part of its output. */
export interface ElasticHold {
  readonly amountNanoUsd: bigint;
  /** The output tokens that this amount covers. */
  readonly outputTokens: number;
  /** The output tokens of each extension. */
  readonly sliceTokens: number;
  /** The amount that covers the whole output limit. */
  readonly fullAmountNanoUsd: bigint;
  /**
   * Raises the hold to a larger amount. Idempotent.
   *
   * @throws GatewayError when it cannot be decided, or the hold is no longer open.
   */
  extend(amountNanoUsd: bigint): Promise<Extension>;
}

export type Extension =
  | { readonly kind: 'granted' }
  /** With what could be held in addition. */
  | { readonly kind: 'refused'; readonly leftNanoUsd: bigint };

export interface OutputGateOptions {
  readonly hold: ElasticHold;
  readonly maxOutputTokens: number;
  /** Counts the tokens of a text of this model. */
  readonly count: (text: string) => number | Promise<number>;
}

/** A UTF-16 code unit is at most three bytes, and a token at least one. */
const MAX_TOKENS_PER_CHARACTER = 3;

/** Tokens that providers count around an output. */
const SLACK_TOKENS = 16;

/** Attempts of one extension: refused ones are repeated with what is left. */
const MAX_ATTEMPTS = 3;

/**
 * Lets output pass as far as the hold covers it, and extends the hold ahead of need:
 * once less than half of a slice is left. Counts seldom, since most events are far
 * from the limit.
 */
export class OutputGate {
  private heldTokens: number;
  private heldNanoUsd: bigint;
  private countedTokens = 0;
  /** The output since the last count. */
  private uncounted = '';
  private state: 'open' | 'waiting' | 'stopped' = 'open';
  private failure: unknown;
  private extending: Promise<boolean> | undefined;
  /** Refused ahead of need; the next attempt is made when it is needed. */
  private isRefused = false;
  private onDecided: () => void = () => undefined;

  constructor(private readonly options: OutputGateOptions) {
    this.heldTokens = options.hold.outputTokens;
    this.heldNanoUsd = options.hold.amountNanoUsd;
  }

  /** The output tokens that the hold covers. */
  get heldOutputTokens(): number {
    return this.heldTokens;
  }

  /** The most tokens of the output so far, of usual text; undefined once the hold covers the whole limit. */
  get visibleOutputTokens(): number | undefined {
    if (this.heldTokens >= this.options.maxOutputTokens) return undefined;
    return withTokenMargin(this.countedTokens + this.uncounted.length) + SLACK_TOKENS;
  }

  /**
   * Holds the whole output limit.
   *
   * @returns false when that is refused.
   */
  async coverAll(): Promise<boolean> {
    const { hold, maxOutputTokens } = this.options;
    const { kind } = await hold.extend(hold.fullAmountNanoUsd);
    if (kind === 'refused') return false;
    this.heldTokens = maxOutputTokens;
    this.heldNanoUsd = hold.fullAmountNanoUsd;
    return true;
  }

  /**
   * @param text the next output of the stream.
   * @returns false when it is not covered, or not yet: see `decision`.
   */
  admits(text: string): boolean {
    const { heldTokens } = this;
    if (heldTokens >= this.options.maxOutputTokens) return true;
    this.uncounted += text;
    const mostTokens = this.countedTokens + this.uncounted.length * MAX_TOKENS_PER_CHARACTER;
    if (withTokenMargin(mostTokens) <= heldTokens) return true;
    const counting = this.countNew();
    if (counting === undefined && this.isCovered()) return true;
    this.state = 'waiting';
    void this.waitForCover(counting);
    return false;
  }

  /**
   * What becomes of the output that was not admitted.
   *
   * @throws GatewayError when the hold could not be extended for another reason than a refusal.
   */
  decision(): 'wait' | 'send' | 'stop' {
    if (this.failure !== undefined) throw this.failure;
    if (this.state === 'waiting') return 'wait';
    return this.state === 'open' ? 'send' : 'stop';
  }

  /** Sets the listener that is called when `decision` is no longer 'wait'. */
  listen(onDecided: () => void): void {
    this.onDecided = onDecided;
  }

  private async waitForCover(counting: Promise<void> | undefined): Promise<void> {
    try {
      await counting;
      let isExtended = true;
      while (!this.isCovered() && isExtended) isExtended = await this.extend();
      this.state = isExtended ? 'open' : 'stopped';
    } catch (error) {
      this.failure = error;
    }
    this.onDecided();
  }

  /** Counts what was added since the last count. */
  private countNew(): Promise<void> | undefined {
    const added = this.options.count(this.uncounted);
    this.uncounted = '';
    const add = (tokens: number) => {
      this.countedTokens += tokens;
    };
    if (typeof added !== 'number') return added.then(add);
    add(added);
    return undefined;
  }

  /** Starts an extension when little is left. */
  private isCovered(): boolean {
    const needed = withTokenMargin(this.countedTokens);
    const isScarce = needed > this.heldTokens - this.options.hold.sliceTokens / 2;
    if (isScarce && !this.isRefused && this.heldTokens < this.options.maxOutputTokens) {
      // An error is repeated, and reported, when the extension is needed.
      this.extend().catch(() => undefined);
    }
    return needed <= this.heldTokens || this.heldTokens >= this.options.maxOutputTokens;
  }

  /** @returns whether more is held than before. */
  private extend(): Promise<boolean> {
    this.extending ??= this.extendOnce().finally(() => (this.extending = undefined));
    return this.extending;
  }

  private async extendOnce(): Promise<boolean> {
    const { hold, maxOutputTokens } = this.options;
    const needed = Math.max(this.heldTokens, withTokenMargin(this.countedTokens));
    let tokens = Math.min(maxOutputTokens, needed + hold.sliceTokens);
    for (let attempt = 0; attempt < MAX_ATTEMPTS && tokens > this.heldTokens; attempt += 1) {
      const amountNanoUsd = this.amountOf(tokens);
      const extension = await hold.extend(amountNanoUsd);
      if (extension.kind === 'granted') {
        this.heldTokens = tokens;
        this.heldNanoUsd = amountNanoUsd;
        return true;
      }
      this.isRefused = true;
      tokens = Math.min(tokens - 1, this.tokensOf(this.heldNanoUsd + extension.leftNanoUsd));
    }
    return false;
  }

  /**
   * Between the amounts of the hold and of the whole output. Prices with tiers make
   * the cost grow faster towards the end, so the straight line is never below it.
   */
  private amountOf(tokens: number): bigint {
    const { extraTokens, extraNanoUsd } = this.whole();
    const extra = BigInt(tokens - this.options.hold.outputTokens) * extraNanoUsd;
    return this.options.hold.amountNanoUsd + (extra + extraTokens - 1n) / extraTokens;
  }

  /** The most tokens that an amount covers. */
  private tokensOf(amountNanoUsd: bigint): number {
    const { extraTokens, extraNanoUsd } = this.whole();
    if (extraNanoUsd === 0n) return this.options.maxOutputTokens;
    const extra = ((amountNanoUsd - this.options.hold.amountNanoUsd) * extraTokens) / extraNanoUsd;
    return this.options.hold.outputTokens + Number(extra);
  }

  private whole(): { readonly extraTokens: bigint; readonly extraNanoUsd: bigint } {
    const { hold, maxOutputTokens } = this.options;
    return {
      extraTokens: BigInt(maxOutputTokens - hold.outputTokens),
      extraNanoUsd: hold.fullAmountNanoUsd - hold.amountNanoUsd,
    };
  }
}
