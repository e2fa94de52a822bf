import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client';
import { useDebounced } from '../../../ui/debounce';
import { LIST_OF, type CatalogueEntries, type EntryKind } from './check-entry';
import { textOf, type Fields } from './json-schema';

/** A provider or model of the draft or of the text in effect. */
export interface Entry {
  readonly kind: EntryKind;
  /** The name of a provider, the ID of a model. */
  readonly name: string;
  /** The position in its list of the draft; null when the draft does not have it. */
  readonly index: number | null;
  readonly fields: Fields;
  /** How the draft differs from the text in effect. */
  readonly change?: 'New' | 'Changed' | 'Removed';
}

const NAME_OF = { provider: 'name', model: 'id' } as const;

/** Undefined while the text is being typed, and for a text that cannot be read. */
export function useEntries(text: string): CatalogueEntries | undefined {
  const settled = useDebounced(text);
  const { data } = useQuery({
    queryKey: ['catalogue-entries', settled],
    queryFn: ({ signal }) =>
      api.call('POST /api/operator/catalogue/entries', { body: { text: settled }, signal }),
    staleTime: Infinity,
  });
  return settled === text ? data : undefined;
}

/** The entries of the draft in their order, then those that it removes. */
export function compareEntries(
  kind: EntryKind,
  draft: CatalogueEntries,
  inEffect: CatalogueEntries,
): readonly Entry[] {
  const entriesOf = (text: CatalogueEntries): readonly Entry[] =>
    text[LIST_OF[kind]].map((fields, index) => ({
      kind,
      index,
      fields,
      name: textOf(fields[NAME_OF[kind]]),
    }));
  const before = new Map(entriesOf(inEffect).map((entry) => [entry.name, entry]));
  const after = entriesOf(draft).map((entry): Entry => {
    const published = before.get(entry.name);
    before.delete(entry.name);
    if (!published) return { ...entry, change: 'New' };
    const isSame = JSON.stringify(published.fields) === JSON.stringify(entry.fields);
    return isSame ? entry : { ...entry, change: 'Changed' };
  });
  return [
    ...after,
    ...[...before.values()].map((entry) => ({ ...entry, index: null, change: 'Removed' as const })),
  ];
}
