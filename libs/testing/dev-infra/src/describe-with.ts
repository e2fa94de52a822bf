/** A server that tests need. */
export interface TestServer {
  /** Such as "Redis". */
  readonly name: string;
  /** How it comes onto a machine. */
  readonly howToGet: string;
  isAvailable(): boolean;
}

/**
 * Tests that need a server: skipped out loud where it cannot be had. In CI they
 * run, and fail for want of it, since a summary must not look whole when it is not.
 */
export function describeWith(server: TestServer, name: string, tests: () => void): void {
  if (server.isAvailable() || process.env['CI'] === 'true') {
    describe(name, tests);
    return;
  }
  console.warn(`SKIPPED: ${name}: there is no ${server.name}. ${server.howToGet}`);
  describe.skip(name, tests);
}
