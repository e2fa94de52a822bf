/** A schema that cannot be brought up to date: trying again does not help. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
