import { parseDocument } from 'yaml';
import type { CatalogueTexts, EntryChange } from '../../core/catalogue/managed-catalogue';
import { withProposedPrices } from './proposed-prices';
import { CatalogueError, parseCatalogue, type ParseCatalogueOptions } from './parse-catalogue';

/** Reads texts of a catalogue in the database. Only stored secrets may be used: operators must not read the router's environment. */
export function createCatalogueTexts({
  variables,
}: Pick<ParseCatalogueOptions, 'variables'>): CatalogueTexts {
  return {
    check(text, secrets) {
      try {
        const fromStore = (name: string) => secrets.get(name);
        return {
          ok: true,
          catalogue: parseCatalogue(text, { version: 0, variables, secrets: { fromStore } }),
        };
      } catch (error) {
        if (error instanceof CatalogueError) return { ok: false, issues: error.issuesByLine };
        throw error;
      }
    },

    compare(before, after) {
      const [old, changed] = [entriesOf(before), entriesOf(after)];
      return (['provider', 'model'] as const).flatMap((kind) =>
        compareEntries(kind, old[kind], changed[kind]),
      );
    },

    withPrices: withProposedPrices,

    secretNames: (text) => new Set([...entriesOf(text).provider.values()].flatMap(namesOfSecrets)),
  };
}

/** The values of an entry by their path, such as "prices.input". */
type Fields = ReadonlyMap<string, string>;
type Entries = ReadonlyMap<string, Fields>;

function entriesOf(text: string): Readonly<Record<'provider' | 'model', Entries>> {
  const document = parseDocument(text);
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 });
  return { provider: listOf(value, 'providers', 'name'), model: listOf(value, 'models', 'id') };
}

function listOf(value: unknown, list: string, key: string): Entries {
  const items = isObject(value) ? value[list] : undefined;
  if (!Array.isArray(items)) return new Map();
  return new Map(
    items.flatMap((item: unknown): [string, Fields][] => {
      const name = isObject(item) ? item[key] : undefined;
      return typeof name === 'string' ? [[name, new Map(leavesOf(item))]] : [];
    }),
  );
}

function* leavesOf(value: unknown, path = ''): Generator<[string, string]> {
  if (!isObject(value) && !Array.isArray(value)) {
    yield [path, String(value)];
    return;
  }
  for (const [name, part] of Object.entries(value)) {
    const isIndex = Array.isArray(value);
    yield* leavesOf(part, isIndex ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
  }
}

function compareEntries(kind: EntryChange['kind'], before: Entries, after: Entries): EntryChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name): EntryChange[] => {
    const [old, changed] = [before.get(name), after.get(name)];
    const fields = compareFields(old ?? new Map(), changed ?? new Map());
    if (old && changed) return fields.length === 0 ? [] : [{ kind, name, change: 'changed', fields }];
    return [{ kind, name, change: old ? 'removed' : 'added', fields }];
  });
}

function compareFields(before: Fields, after: Fields): EntryChange['fields'] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((field) => ({ field, before: before.get(field), after: after.get(field) }))
    .filter(({ before: old, after: changed }) => old !== changed);
}

function namesOfSecrets(provider: Fields): string[] {
  return [...provider].flatMap(([path, value]) =>
    path === 'api_key_secret' || /^headers\.[^.]+\.secret$/.test(path) ? [value] : [],
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
