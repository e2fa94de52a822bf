type Result<Message> = IteratorResult<Message, undefined>;

interface Read<Message> {
  readonly resolve: (result: Result<Message>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: Result<never> = { done: true, value: undefined };

/**
 * The reads of one stream that wait, in their order, and how the stream ended:
 * one read hears of its failure, the one that waits or else the next, and all
 * others of the end.
 */
export class StreamReads<Message> {
  readonly #waiting: Read<Message>[] = [];
  /** Why the stream ended, when nobody was reading at that moment. */
  #unheard: Error | undefined;

  get someWait(): boolean {
    return this.#waiting.length > 0;
  }

  /** A read that waits for its message. */
  wait(): Promise<Result<Message>> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Gives the message to the read that has waited longest. */
  give(message: Message): void {
    this.#waiting.shift()?.resolve({ done: false, value: message });
  }

  end(error: Error | undefined): void {
    const first = this.#waiting.shift();
    if (error === undefined) first?.resolve(DONE);
    else if (first === undefined) this.#unheard = error;
    else first.reject(error);
    for (const read of this.#waiting.splice(0)) read.resolve(DONE);
  }

  /** A read after the end. */
  afterEnd(): Promise<Result<Message>> {
    const unheard = this.#unheard;
    this.#unheard = undefined;
    return unheard === undefined ? Promise.resolve(DONE) : Promise.reject(unheard);
  }

  /** The reader left, and wants to hear of nothing more. */
  leave(): Promise<Result<Message>> {
    this.#unheard = undefined;
    return Promise.resolve(DONE);
  }
}
