/** The embedded server cannot be set up or started. The message includes a remedy. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
