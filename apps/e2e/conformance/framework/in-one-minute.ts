const MINUTE_MS = 60_000;
const MAX_ATTEMPTS = 3;

/** Rate-limit windows are UTC minutes: repeats a test, which brings its own tenant, if a new minute interrupted it. */
export async function inOneMinute(test: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const startedIn = currentMinute();
    const failure = await test().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (currentMinute() !== startedIn && attempt < MAX_ATTEMPTS) continue;
    if (failure) throw failure.error;
    return;
  }
}

function currentMinute(): number {
  return Math.floor(Date.now() / MINUTE_MS);
}
