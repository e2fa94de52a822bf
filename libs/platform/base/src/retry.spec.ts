import { maintainConnection, retry } from './retry';

const backoff = { firstMs: 100, maxMs: 300 };

function timingWithoutWaits() {
  const pausesMs: number[] = [];
  return {
    pausesMs,
    timing: {
      random: () => 1,
      sleep: async (ms: number) => {
        pausesMs.push(ms);
      },
    },
  };
}

function failing(times: number) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return calls;
  };
}

describe('retry', () => {
  it('repeats until the operation succeeds, with pauses that grow up to the maximum', async () => {
    const { pausesMs, timing } = timingWithoutWaits();
    const seen: unknown[] = [];
    const onRetry = (error: unknown, { failures }: { failures: number }) =>
      seen.push([String(error), failures]);
    await expect(retry(failing(4), { backoff, timing, onRetry })).resolves.toBe(5);
    expect(pausesMs).toEqual([100, 200, 300, 300]);
    expect(seen).toHaveLength(4);
    expect(seen[1]).toEqual(['Error: failure 2', 2]);
  });

  it('throws the last error after the last attempt, and a non-retryable error immediately', async () => {
    const { pausesMs, timing } = timingWithoutWaits();
    await expect(retry(failing(9), { backoff, timing, maxAttempts: 3 })).rejects.toThrow('failure 3');
    expect(pausesMs).toHaveLength(2);
    await expect(retry(failing(9), { backoff, timing, isRetryable: () => false })).rejects.toThrow(
      'failure 1',
    );
    expect(pausesMs).toHaveLength(2);
  });

  it('ends a pause when its signal aborts, with the reason', async () => {
    const stopping = new AbortController();
    const retrying = retry(failing(Infinity), {
      backoff: { firstMs: 60_000, maxMs: 60_000 },
      signal: stopping.signal,
      timing: { random: () => 1 },
      onRetry: () => setImmediate(() => stopping.abort(new Error('stopped'))),
    });
    await expect(retrying).rejects.toThrow('stopped');
  });
});

describe('maintainConnection', () => {
  it('reopens a failed or closed connection, and resets its pauses after a success', async () => {
    const { pausesMs, timing } = timingWithoutWaits();
    const stopping = new AbortController();
    const failures: string[] = [];
    let calls = 0;
    await maintainConnection(
      async (opened) => {
        calls += 1;
        if (calls === 4) opened();
        if (calls === 5) return;
        if (calls === 6) stopping.abort();
        throw new Error(`failure ${calls}`);
      },
      { backoff, timing, signal: stopping.signal, onFailure: (error) => failures.push(String(error)) },
    );
    expect(pausesMs.slice(0, 5)).toEqual([100, 200, 300, 100, 200]);
    expect(failures).toEqual([1, 2, 3, 4].map((call) => `Error: failure ${call}`));
    expect(calls).toBe(6);
  });
});
