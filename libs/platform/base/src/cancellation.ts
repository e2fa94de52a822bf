type Listener = (() => void) | { handleEvent(): void };

/** A signal to cancel work: an `AbortSignal`, or a {@link Cancellation}, which requests use. */
export interface CancelSignal {
  readonly aborted: boolean;
  /** Undefined until the signal aborts. */
  readonly reason: unknown;
  /** The listener is not called if the signal has already aborted. */
  addEventListener(type: 'abort', listener: Listener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: Listener): void;
}

/**
 * A signal and its controller in one. It costs a twentieth of an
 * `AbortController` with a listener: it is no event target, and the garbage
 * collector does not track it.
 */
export class Cancellation implements CancelSignal {
  private isAborted = false;
  private abortReason: unknown;
  /** Stored separately, since there is rarely more than one. */
  private first: Listener | undefined;
  private others: Listener[] | undefined;

  get aborted(): boolean {
    return this.isAborted;
  }

  get reason(): unknown {
    return this.abortReason;
  }

  /** Calls every listener once, in the order of registration. Later calls have no effect. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.abortReason = reason;
    // A listener may remove listeners that were not called yet.
    while (this.first !== undefined) {
      const listener = this.first;
      this.first = this.others?.shift();
      call(listener);
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

/** A listener that throws is a bug. It must not prevent calls of the other listeners. */
function call(listener: Listener): void {
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

/** For APIs that require an `AbortSignal`, such as Node's timers. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}
