/** Throws unless the text can stand in SQL as a schema name without quoting. */
export function assertSchemaName(schema: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`"${schema}" is no schema name: lower-case letters, digits and underscores only`);
  }
}
