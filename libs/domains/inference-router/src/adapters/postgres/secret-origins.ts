import { textArray } from '@gateway/database';
import type { ClientBase } from 'pg';
import type { CatalogueIssue, SecretOrigins } from '../../core/catalogue/managed-catalogue';

const READ =
  'select name, origins from provider_secrets where name = any($1::text[]) and origins is not null';
const TIE = 'update provider_secrets set origins = $2::text[] where name = $1 and origins is null';

/**
 * Ties each secret to the origins of its first use since it was stored. The caller has locked all changes.
 *
 * @returns an issue for each secret that would be sent elsewhere; nothing is changed then.
 */
export async function tieSecrets(
  client: ClientBase,
  origins: SecretOrigins,
): Promise<readonly CatalogueIssue[]> {
  const names = [...origins.keys()];
  const { rows } = await client.query<{ name: string; origins: readonly string[] }>(READ, [
    textArray(names, (name) => name),
  ]);
  const issues = rows.flatMap(({ name, origins: known }) =>
    [...(origins.get(name) ?? [])]
      .filter((origin) => !known.includes(origin))
      .map((origin) => ({
        message: `the stored secret ${name} belongs to ${known.join(', ')}: to send it to ${origin}, replace its value first`,
        line: undefined,
      })),
  );
  if (issues.length > 0) return issues;
  const tied = new Set(rows.map(({ name }) => name));
  for (const [name, used] of origins)
    if (!tied.has(name)) await client.query(TIE, [name, textArray([...used], (origin) => origin)]);
  return [];
}
