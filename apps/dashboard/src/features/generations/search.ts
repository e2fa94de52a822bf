import { present, textIn } from '../../app/search';

/** What the address of the list of generations may hold: every filter, and nothing else. */
export function readGenerationSearch(search: Record<string, unknown>) {
  return present({
    find: textIn(search, 'find'),
    from: textIn(search, 'from'),
    to: textIn(search, 'to'),
    model: textIn(search, 'model'),
    key: textIn(search, 'key'),
    status: textIn(search, 'status'),
    user: textIn(search, 'user'),
    min_cost: textIn(search, 'min_cost'),
    max_cost: textIn(search, 'max_cost'),
  });
}

export type GenerationSearch = ReturnType<typeof readGenerationSearch>;
