import type { Result } from '@gateway/dashboard-contract/client';
import { api } from '../../../api/client';
import type { CatalogueIssue } from './catalogue-state';
import type { Fields } from './json-schema';

export type CatalogueEntries = Result<'POST /api/operator/catalogue/entries'>;
export type EntryKind = 'provider' | 'model';

export const LIST_OF = { provider: 'providers', model: 'models' } as const;

export interface EditedEntry {
  readonly text: string;
  readonly entries: CatalogueEntries;
  readonly kind: EntryKind;
  /** Null: a new entry. */
  readonly index: number | null;
  readonly fields: Fields;
}

export interface CheckedEntry {
  /** The text with the entry. */
  readonly text: string;
  readonly isValid: boolean;
  /** Messages by the path of their field. */
  readonly byPath: ReadonlyMap<string, string>;
  readonly others: readonly string[];
}

/** Puts an entry into the text, and finds the issues of that entry. Nothing is saved. */
export async function checkEntry({ text, entries, kind, index, fields }: EditedEntry): Promise<CheckedEntry> {
  const body = { text, kind, index, entry: { ...fields } };
  const edited = await api.call('POST /api/operator/catalogue/entries/edit', { body });
  const { issues } = await api.call('POST /api/operator/catalogue/check', { body: edited });
  const list = LIST_OF[kind];
  return { text: edited.text, ...issuesOf(issues, `${list}[${index ?? entries[list].length}]`) };
}

/** "models[1].prices.input (line 3): is wrong" belongs to the field prices.input of models[1]. */
function issuesOf(issues: readonly CatalogueIssue[], prefix: string) {
  const byPath = new Map<string, string>();
  const others: string[] = [];
  for (const { message } of issues) {
    const rest = message.startsWith(prefix) ? message.slice(prefix.length) : '';
    if (!/^[.: ]/.test(rest)) continue;
    const [, path, problem] = /^\.([^\s:]+)(?: \(line \d+\))?: (.*)$/s.exec(rest) ?? [];
    if (path === undefined || problem === undefined) others.push(rest.replace(/^[: ]+/, ''));
    else byPath.set(path, problem);
  }
  return { isValid: byPath.size === 0 && others.length === 0, byPath, others };
}
