import path from 'node:path';
import { isMap, isScalar, isSeq, parse, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml';
import { CatalogueError } from './parse-catalogue';
import { readSecret, type ProcessSecrets, type SecretSource } from './secrets';

export interface TextWithStoredSecrets {
  readonly text: string;
  /** By the names in the text. */
  readonly secrets: ReadonlyMap<string, string>;
}

/**
 * A models file whose keys are named as stored secrets instead of environment variables and files. Every other byte
 * stays as it is.
 *
 * @throws CatalogueError when a key is missing.
 */
export function withStoredSecrets(text: string, secrets: ProcessSecrets): TextWithStoredSecrets {
  const issues: string[] = [];
  const stored = new Map<string, string>();

  /** Stores the secret. @returns its name. Different secrets have different names. */
  function store({ at, source }: NamedSecret): string {
    const value = readSecret(at, source, secrets, issues);
    const wanted = nameOf(source);
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? wanted : `${wanted}-${number}`;
      const known = stored.get(name);
      if (known !== undefined && known !== value) continue;
      stored.set(name, value);
      return name;
    }
  }

  const edits = [...secretsOf(text)].flatMap((secret) => [
    { node: secret.key, replacement: secret.field },
    { node: secret.value, replacement: asYamlText(store(secret)) },
  ]);
  if (issues.length > 0) throw new CatalogueError(issues);
  return { text: edits.reduceRight((edited, edit) => withEdit(edited, edit), text), secrets: stored };
}

interface NamedSecret {
  /** Its path, for messages. */
  readonly at: string;
  readonly source: SecretSource;
  readonly key: Node;
  readonly value: Node;
  /** The field that names a stored secret instead. */
  readonly field: 'api_key_secret' | 'secret';
}

/** The keys that a models file names, in the order of the text. */
function* secretsOf(text: string): Generator<NamedSecret> {
  const providers = parseDocument(text).get('providers', true);
  for (const [index, provider] of (isSeq(providers) ? providers.items : []).entries()) {
    if (!isMap(provider)) continue;
    for (const pair of provider.items) {
      const at = `providers[${index}].${keyOf(pair)}`;
      switch (keyOf(pair)) {
        case 'api_key_env':
          yield* namedSecret(at, 'env', pair, 'api_key_secret');
          break;
        case 'api_key_file':
          // The secret of `google` holds an identity, not a key; the check of the text refuses it.
          if (!usesGoogle(provider)) yield* namedSecret(at, 'file', pair, 'api_key_secret');
          break;
        case 'headers':
          for (const header of isMap(pair.value) ? pair.value.items : []) {
            const [source] = isMap(header.value) ? header.value.items : [];
            const kind = source && keyOf(source);
            if (kind === 'env' || kind === 'file')
              yield* namedSecret(`${at}.${keyOf(header)}`, kind, source as Pair, 'secret');
          }
          break;
      }
    }
  }
}

function* namedSecret(
  at: string,
  kind: 'env' | 'file',
  { key, value }: Pair,
  field: NamedSecret['field'],
): Generator<NamedSecret> {
  if (!isScalar(key) || !isScalar(value)) return;
  const name = String(value.value);
  yield { at, source: kind === 'env' ? { env: name } : { file: name }, key, value, field };
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : '';
}

function withEdit(
  text: string,
  { node, replacement }: { readonly node: Node; readonly replacement: string },
) {
  const [start = 0, end = 0] = node.range ?? [];
  return `${text.slice(0, start)}${replacement}${text.slice(end)}`;
}

/** YAML reads an unquoted number or word such as "true" as another type. */
function asYamlText(name: string): string {
  return typeof parse(name) === 'string' ? name : `'${name}'`;
}

/** The name of the variable or file, in the characters of names of secrets. */
function nameOf(source: SecretSource): string {
  const name = 'env' in source ? source.env : 'file' in source ? path.basename(source.file) : source.secret;
  return (
    name
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[._-]+/, '')
      .slice(0, 60) || 'key'
  );
}

function usesGoogle(provider: YAMLMap): boolean {
  const credential: unknown = provider.get('credential');
  if (credential !== undefined) return credential === 'google';
  return String(provider.get('preset')).startsWith('vertex');
}
