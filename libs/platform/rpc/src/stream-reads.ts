type Result<Message> = IteratorResult<Message, undefined>;

interface Read<Message> {
  readonly resolve: (result: Result<Message>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: Result<never> = { done: true, value: undefined };

/**
 * The pending reads of one stream, in order, and how the stream ended. One read
 * rejects with its failure: the first pending read, or else the next one. All
 * others resolve as done.
 */
export class StreamReads<Message> {
  /** Stored separately, since there is rarely more than one. */
  private first: Read<Message> | undefined;
  private later: Read<Message>[] | undefined;
  /** The failure of the stream, if no read was pending when it ended. */
  private undelivered: Error | undefined;

  get hasPending(): boolean {
    return this.first !== undefined;
  }

  /** Adds a pending read. */
  wait(): Promise<Result<Message>> {
    return new Promise((resolve, reject) => {
      const read = { resolve, reject };
      if (this.first === undefined) this.first = read;
      else (this.later ??= []).push(read);
    });
  }

  /** Resolves the oldest pending read with the message. */
  deliver(message: Message): void {
    this.shift()?.resolve({ done: false, value: message });
  }

  end(error: Error | undefined): void {
    const first = this.shift();
    if (error === undefined) first?.resolve(DONE);
    else if (first === undefined) this.undelivered = error;
    else first.reject(error);
    for (let read = this.shift(); read !== undefined; read = this.shift()) read.resolve(DONE);
  }

  private shift(): Read<Message> | undefined {
    const first = this.first;
    this.first = this.later?.shift();
    return first;
  }

  /** A read after the end. */
  readAfterEnd(): Promise<Result<Message>> {
    const undelivered = this.undelivered;
    this.undelivered = undefined;
    return undelivered === undefined ? Promise.resolve(DONE) : Promise.reject(undelivered);
  }

  /** The reader closed the stream, so an undelivered failure is dropped. */
  cancel(): Promise<Result<Message>> {
    this.undelivered = undefined;
    return Promise.resolve(DONE);
  }
}
