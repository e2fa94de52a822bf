import { z } from 'zod';
import type { Catalogue } from '../../core/catalogue/model-catalogue';
import type {
  CatalogueTexts,
  EntryChange,
  EntryKind,
  SecretOrigins,
} from '../../core/catalogue/managed-catalogue';
import { NotABlockList } from './append-item';
import { CannotEdit, isObject, withEntry, writtenEntries } from './edit-entry';
import { withProposedPrices } from './proposed-prices';
import { CatalogueError, parseCatalogue, type ParseCatalogueOptions } from './parse-catalogue';
import { isPresetHost } from './presets';
import { statedPriceTexts } from './render-prices';
import { catalogueSchema } from './schema';

/** Reads texts of a catalogue in the database. Only stored secrets may be used: operators must not read the router's environment. */
export function createCatalogueTexts({
  variables,
  identityHosts = [],
}: Pick<ParseCatalogueOptions, 'variables' | 'identityHosts'>): CatalogueTexts {
  return {
    check(text, secrets) {
      try {
        const fromStore = (name: string) => secrets.get(name);
        const options = { version: 0, variables, secrets: { fromStore }, identityHosts };
        const catalogue = parseCatalogue(text, options);
        return { ok: true, catalogue, secretOrigins: secretOriginsOf(text, catalogue) };
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

    entryOf: ({ provider, data, cost, prices }) => ({
      id: `${provider}/${data.model}`,
      ...(data.displayName !== undefined && { name: data.displayName }),
      owned_by: provider,
      targets: [{ provider, model: data.model, cost: statedPriceTexts(cost) }],
      ...(data.contextWindow !== undefined && { context_window: data.contextWindow }),
      prices: statedPriceTexts(prices),
    }),

    listEntries: writtenEntries,

    withEntry(text, edit) {
      try {
        return { ok: true, text: withEntry(text, edit) };
      } catch (error) {
        if (error instanceof CannotEdit) return { ok: false, message: error.message };
        if (error instanceof NotABlockList) return { ok: false, message: `${error.message}. Edit the text.` };
        throw error;
      }
    },

    isPresetHost,

    schema: () => z.toJSONSchema(catalogueSchema, { io: 'input', unrepresentable: 'any' }),

    secretNames: (text) => new Set([...entriesOf(text).provider.values()].flatMap(namesOfSecrets)),
  };
}

/** The values of an entry by their path, such as "prices.input". */
type Fields = ReadonlyMap<string, string>;
type Entries = ReadonlyMap<string, Fields>;

function entriesOf(text: string): Readonly<Record<EntryKind, Entries>> {
  const { provider, model } = writtenEntries(text);
  return { provider: fieldsByName(provider, 'name'), model: fieldsByName(model, 'id') };
}

function fieldsByName(entries: readonly Readonly<Record<string, unknown>>[], key: string): Entries {
  return new Map(
    entries.flatMap((entry): [string, Fields][] => {
      const name = entry[key];
      return typeof name === 'string' ? [[name, new Map(leavesOf(entry))]] : [];
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

function compareEntries(kind: EntryKind, before: Entries, after: Entries): EntryChange[] {
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

function secretOriginsOf(text: string, { providers }: Catalogue): SecretOrigins {
  const origins = new Map<string, Set<string>>();
  for (const [name, fields] of entriesOf(text).provider) {
    const provider = providers.get(name);
    if (!provider) continue;
    const { origin } = new URL(provider.baseUrl);
    for (const secret of namesOfSecrets(fields))
      origins.set(secret, (origins.get(secret) ?? new Set()).add(origin));
  }
  return origins;
}

function namesOfSecrets(provider: Fields): string[] {
  return [...provider].flatMap(([path, value]) =>
    path === 'api_key_secret' || /^headers\.[^.]+\.secret$/.test(path) ? [value] : [],
  );
}
