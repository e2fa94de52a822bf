import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { useToast } from '../../../ui/toast';
import type { CatalogueState } from './catalogue-state';
import type { CatalogueEntries, EntryKind } from './check-entry';
import { compareEntries, useEntries } from './entries';
import type { Fields } from './json-schema';
import { useCatalogueChange } from './use-catalogue-change';
import { useDraftText } from './use-draft-text';

export type DraftDialog =
  | {
      readonly dialog: 'form';
      readonly kind: EntryKind;
      /** Null: a new entry. */
      readonly index: number | null;
      readonly fields: Fields;
    }
  | { readonly dialog: 'add provider' }
  | { readonly dialog: 'add model'; readonly provider?: string }
  | { readonly dialog: 'propose prices' }
  | { readonly dialog: 'test' }
  /** With the start of the version's comment. */
  | { readonly dialog: 'publish'; readonly comment: string };

/** The edited draft, its providers and models, and the dialogs that change it. Every tab shows the same draft. */
export function useDraft(state: CatalogueState) {
  const edit = useDraftText(state);
  const { text, revision } = edit;
  const entries = useEntries(text);
  const inEffect = useEntries(state.text);
  /** The last entries that could be read, while the text is being typed. */
  const [shown, setShown] = useState<CatalogueEntries>();
  if (entries && entries !== shown) setShown(entries);
  const [dialog, setDialog] = useState<DraftDialog>();
  const toast = useToast();
  const check = useMutation({
    mutationFn: () => api.call('POST /api/operator/catalogue/check', { body: { text } }),
  });
  const change = (changed: string) => {
    edit.setText(changed);
    check.reset();
  };
  const save = useCatalogueChange(
    async () => {
      const body = { text, expected_revision: revision };
      const { draft: saved } = await api.call('PUT /api/operator/catalogue/draft', { body });
      edit.saved(saved.revision);
    },
    () => toast('Draft saved.'),
  );
  const remove = useMutation({
    mutationFn: ({ kind, index }: { readonly kind: EntryKind; readonly index: number }) =>
      api.call('POST /api/operator/catalogue/entries/edit', { body: { text, kind, index, entry: null } }),
    onSuccess: (edited) => {
      change(edited.text);
      setDialog(undefined);
      toast('Removed from the draft; save it to keep the change.');
    },
  });
  return {
    state,
    edit,
    text,
    /** An opened form may be one of a text whose entries are still being read. */
    entries: entries ?? shown,
    /** Whether the entries are those of the text. */
    isRead: entries !== undefined,
    compare: (kind: EntryKind) => (shown && inEffect ? compareEntries(kind, shown, inEffect) : []),
    secretNames: state.secrets.map(({ name }) => name),
    dialog,
    setDialog,
    change,
    check,
    save,
    remove,
    /** Saves the draft first. */
    publish: (comment: string) => {
      const open = () => setDialog({ dialog: 'publish', comment });
      if (edit.isEdited) save.mutate(undefined, { onSuccess: open });
      else open();
    },
  };
}

export type Draft = ReturnType<typeof useDraft>;
