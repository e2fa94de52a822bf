/** Looks up provider keys, since only apps may read the environment. Undefined when there is none. */
export interface Secrets {
  fromEnvironment(name: string): string | undefined;
  /** The trimmed content of a file. */
  fromFile(path: string): string | undefined;
}

/** Where a secret is read from. */
export type SecretSource = { readonly env: string } | { readonly file: string };

/** @returns the secret; empty, with an issue, when it is missing or not allowed in a header. */
export function readSecret(path: string, source: SecretSource, secrets: Secrets, issues: string[]): string {
  const [name, value] =
    'env' in source
      ? [`the variable ${source.env}`, secrets.fromEnvironment(source.env)]
      : [`the file ${source.file}`, secrets.fromFile(source.file)];
  const secret = value?.trim() ?? '';
  if (secret === '') issues.push(`${path}: ${name} is missing or empty`);
  else if (!/^[\x21-\x7e]+$/.test(secret))
    issues.push(`${path}: ${name} has characters that are not allowed in a header`);
  return secret;
}
