/** A server that tests need. */
export interface TestServer {
  /** Such as "Redis". */
  readonly name: string;
  /** How to install it. */
  readonly installHint: string;
  isAvailable(): boolean;
  /** Its tests are skipped in CI too, since other tests run against another form of the same server. */
  readonly isOptional?: boolean;
}

/**
 * Declares tests that need a server. Without the server they are skipped with a
 * warning; in CI they run and fail, so that missing tests cannot go unnoticed.
 */
export function describeWith(server: TestServer, name: string, tests: () => void): void {
  if (server.isAvailable() || (process.env['CI'] === 'true' && server.isOptional !== true)) {
    describe(name, tests);
    return;
  }
  console.warn(`SKIPPED: ${name}: ${server.name} is not installed. ${server.installHint}`);
  describe.skip(name, tests);
}
