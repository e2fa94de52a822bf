/**
 * Looks up the keys of providers, since only apps may read the environment. Each lookup returns undefined when there is
 * no such secret. An absent lookup: a catalogue of this source may not use such secrets.
 */
export interface Secrets {
  readonly fromEnvironment?: (name: string) => string | undefined;
  /** The trimmed content of a file. */
  readonly fromFile?: (path: string) => string | undefined;
  /** A secret in the database. */
  readonly fromStore?: (name: string) => string | undefined;
}

/** The secrets of a catalogue in a file. */
export type ProcessSecrets = Required<Pick<Secrets, 'fromEnvironment' | 'fromFile'>>;

/** Where a secret is read from. */
export type SecretSource = { readonly env: string } | { readonly file: string } | { readonly secret: string };

const NOT_FROM_PROCESS = 'cannot be used by a catalogue in the database: name a stored secret';
const NOT_FROM_STORE = 'stored secrets require GATEWAY_CATALOGUE=database';

/** @returns the secret; empty, with an issue, when it is missing or not allowed in a header. */
export function readSecret(path: string, source: SecretSource, secrets: Secrets, issues: string[]): string {
  const { name, refused, value } = lookup(source, secrets);
  const secret = value?.trim() ?? '';
  if (refused !== undefined) issues.push(`${path}: ${refused}`);
  else if (secret === '') issues.push(`${path}: ${name} is missing or empty`);
  else if (!/^[\x21-\x7e]+$/.test(secret))
    issues.push(`${path}: ${name} has characters that are not allowed in a header`);
  return secret;
}

interface Lookup {
  readonly name: string;
  /** Why this source may not be used. */
  readonly refused: string | undefined;
  readonly value: string | undefined;
}

function lookup(source: SecretSource, { fromEnvironment, fromFile, fromStore }: Secrets): Lookup {
  if ('secret' in source) {
    const name = `the stored secret ${source.secret}`;
    return { name, refused: fromStore ? undefined : NOT_FROM_STORE, value: fromStore?.(source.secret) };
  }
  if ('env' in source) {
    const name = `the variable ${source.env}`;
    const refused = fromEnvironment ? undefined : `environment variables ${NOT_FROM_PROCESS}`;
    return { name, refused, value: fromEnvironment?.(source.env) };
  }
  const refused = fromFile ? undefined : `files ${NOT_FROM_PROCESS}`;
  return { name: `the file ${source.file}`, refused, value: fromFile?.(source.file) };
}
