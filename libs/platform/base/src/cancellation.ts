type Listener = (() => void) | { handleEvent(): void };

/**
 * What tells that work is no longer wanted. An `AbortSignal` is one; those of
 * requests are {@link Cancellation}s, of which a request has several.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  /** Why; undefined until then. */
  readonly reason: unknown;
  /** Not called for what has aborted before. */
  addEventListener(type: 'abort', listener: Listener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: Listener): void;
}

/**
 * Its own signal and the means to abort it. It costs a twentieth of an
 * `AbortController` with a listener, for it is neither an event target nor
 * followed by the garbage collector.
 */
export class Cancellation implements CancelSignal {
  private isAborted = false;
  private abortReason: unknown;
  /** Most have one; an array only when there are more. */
  private first: Listener | undefined;
  private others: Listener[] | undefined;

  get aborted(): boolean {
    return this.isAborted;
  }

  get reason(): unknown {
    return this.abortReason;
  }

  /** Tells every listener once, in the order of their coming. Later calls change nothing. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.abortReason = reason;
    // One that is removed by another before its turn is not told.
    while (this.first !== undefined) {
      const listener = this.first;
      this.first = this.others?.shift();
      tell(listener);
    }
  }

  addEventListener(_type: 'abort', listener: Listener): void {
    if (this.isAborted || listener === this.first || this.others?.includes(listener)) return;
    if (this.first === undefined) this.first = listener;
    else if (this.others === undefined) this.others = [listener];
    else this.others.push(listener);
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    if (listener === this.first) this.first = this.others?.shift();
    else this.others = this.others?.filter((other) => other !== listener);
  }
}

/** A listener that throws is a bug; it must not keep the others from hearing. */
function tell(listener: Listener): void {
  try {
    if (typeof listener === 'function') listener();
    else listener.handleEvent();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/** @throws the signal's reason. */
export function throwIfAborted(signal: CancelSignal): void {
  if (signal.aborted) throw signal.reason;
}

/** For what takes nothing else, such as Node's timers. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}
