/** Throws unless the text is a valid schema name without quoting. */
export function assertSchemaName(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(
      `"${schema}" is not a valid schema name: use only lower-case letters, digits and underscores`,
    );
  }
}
