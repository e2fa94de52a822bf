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
  /** Apart, since it is nearly always the only one. */
  private first: Read<Message> | undefined;
  private later: Read<Message>[] | undefined;
  /** Why the stream ended, when nobody was reading at that moment. */
  private unheard: Error | undefined;

  get someWait(): boolean {
    return this.first !== undefined;
  }

  /** A read that waits for its message. */
  wait(): Promise<Result<Message>> {
    return new Promise((resolve, reject) => {
      const read = { resolve, reject };
      if (this.first === undefined) this.first = read;
      else (this.later ??= []).push(read);
    });
  }

  /** Gives the message to the read that has waited longest. */
  give(message: Message): void {
    this.shift()?.resolve({ done: false, value: message });
  }

  end(error: Error | undefined): void {
    const first = this.shift();
    if (error === undefined) first?.resolve(DONE);
    else if (first === undefined) this.unheard = error;
    else first.reject(error);
    for (let read = this.shift(); read !== undefined; read = this.shift()) read.resolve(DONE);
  }

  private shift(): Read<Message> | undefined {
    const first = this.first;
    this.first = this.later?.shift();
    return first;
  }

  /** A read after the end. */
  afterEnd(): Promise<Result<Message>> {
    const unheard = this.unheard;
    this.unheard = undefined;
    return unheard === undefined ? Promise.resolve(DONE) : Promise.reject(unheard);
  }

  /** The reader left, and wants to hear of nothing more. */
  leave(): Promise<Result<Message>> {
    this.unheard = undefined;
    return Promise.resolve(DONE);
  }
}
