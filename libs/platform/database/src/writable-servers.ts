/** Several servers. One of them is writable. */
export interface WritableServers {
  /** The URL of the first writable server. Concurrent calls share one search. Rejects with the last failure. */
  find(): Promise<string>;
  /** The server that was found is of no more use: the next search tries it last. */
  skip(): void;
}

/** @param assertWritable rejects for a server that is read-only or does not respond, within a bounded time */
export function createWritableServers(
  urls: readonly string[],
  assertWritable: (url: string) => Promise<void>,
): WritableServers {
  /** Where the next search starts. A server that was found stays the first choice. */
  let start = 0;
  let searching: Promise<string> | undefined;

  async function search(): Promise<string> {
    const first = start;
    let failure: unknown;
    for (let offset = 0; offset < urls.length; offset += 1) {
      const index = (first + offset) % urls.length;
      const url = urls[index] as string;
      try {
        await assertWritable(url);
        start = index;
        return url;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  return {
    find: () => (searching ??= search().finally(() => (searching = undefined))),
    skip() {
      start = (start + 1) % urls.length;
    },
  };
}
