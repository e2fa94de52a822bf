export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Returns the result of `work`, or rejects with a TimeoutError after `ms`. A
 * function receives a signal that aborts then; a promise continues unobserved.
 *
 * @param what names the work in the error, such as "writing to Kafka".
 */
export async function withTimeout<Result>(
  work: Promise<Result> | ((signal: AbortSignal) => Promise<Result>),
  ms: number,
  what: string,
): Promise<Result> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TimeoutError(`${what} took longer than ${ms} ms`);
      reject(error);
      controller.abort(error);
    }, ms);
  });
  try {
    const result = typeof work === 'function' ? work(controller.signal) : work;
    return await Promise.race([result, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
