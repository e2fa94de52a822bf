/** A schema cannot be migrated. A retry does not help. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
