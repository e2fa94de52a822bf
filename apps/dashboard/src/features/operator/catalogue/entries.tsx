import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { useDebounced } from '../../../ui/debounce';
import { Dialog } from '../../../ui/dialog';
import { Badge } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Table, type Column } from '../../../ui/table';
import { useToast } from '../../../ui/toast';
import { Text, visible } from '../../../ui/values';
import { AddModel } from './add-model';
import { AddProvider } from './add-provider';
import type { CatalogueEntries, EntryKind } from './check-entry';
import { EntryForm } from './entry-form';
import { isFields, targetsOf, textOf, type Fields } from './json-schema';

interface EntriesProps {
  /** The edited text. */
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly secretNames: readonly string[];
  readonly onPublish: (comment: string) => void;
}

/** A provider or model that a form shows. */
interface OpenEntry {
  readonly kind: EntryKind;
  /** Null: a new entry. */
  readonly index: number | null;
  readonly fields: Fields;
}

type Opened =
  | ({ readonly dialog: 'form' } & OpenEntry)
  | { readonly dialog: 'add provider' }
  | { readonly dialog: 'add model'; readonly provider?: string };

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

/** The providers and models of the edited text, each with a form. Nothing but the API key of a new provider is saved. */
export function Entries({
  text,
  entries,
  onText,
  secretNames,
  onPublish,
}: EntriesProps & { readonly entries: CatalogueEntries | undefined }) {
  const [shown, setShown] = useState<CatalogueEntries>();
  const [open, setOpen] = useState<Opened>();
  const toast = useToast();
  if (entries && entries !== shown) setShown(entries);
  const remove = useMutation({
    mutationFn: ({ kind, index }: OpenEntry) =>
      api.call('POST /api/operator/catalogue/entries/edit', { body: { text, kind, index, entry: null } }),
    onSuccess: (edited) => {
      onText(edited.text);
      toast('Removed from the text; save the draft to keep the change.');
    },
  });
  if (!shown) return null;
  const actions = {
    isDisabled: !entries,
    onEdit: (entry: OpenEntry) => setOpen({ dialog: 'form', ...entry }),
    onRemove: remove.mutate,
  };
  return (
    <>
      <EntryTable
        {...actions}
        caption="Providers"
        kind="provider"
        entries={shown.providers}
        nameOf={({ name }) => textOf(name)}
        columns={PROVIDER_COLUMNS}
        onAdd={() => setOpen({ dialog: 'add provider' })}
      />
      <EntryTable
        {...actions}
        caption="Models"
        kind="model"
        entries={shown.models}
        nameOf={({ id }) => textOf(id)}
        columns={MODEL_COLUMNS}
        onAdd={() => setOpen({ dialog: 'add model' })}
      />
      {remove.error && <FailureLine error={remove.error} />}
      <Dialog
        open={open !== undefined}
        onOpenChange={() => setOpen(undefined)}
        title={open && titleOf(open)}
        wide
        persistent
      >
        {open && (
          <EntryDialog
            {...{ text, onText, secretNames, onPublish, open, setOpen }}
            // The text of an opened form may be one whose entries are still being read.
            entries={entries ?? shown}
          />
        )}
      </Dialog>
    </>
  );
}

function titleOf(open: Opened): ReactNode {
  if (open.dialog === 'add provider') return 'Add a provider';
  if (open.dialog === 'add model') return 'Add a model';
  if (open.index === null) return `Add a ${open.kind}`;
  return (
    <>
      Edit <Text>{textOf(open.kind === 'provider' ? open.fields['name'] : open.fields['id'])}</Text>
    </>
  );
}

function EntryDialog({
  open,
  setOpen,
  text,
  onText,
  entries,
  secretNames,
  onPublish,
}: EntriesProps & {
  readonly entries: CatalogueEntries;
  readonly open: Opened;
  readonly setOpen: (open: Opened | undefined) => void;
}) {
  const onClose = () => setOpen(undefined);
  const shared = { text, entries, onText, onClose };
  if (open.dialog === 'add provider')
    return (
      <AddProvider
        {...{ ...shared, secretNames }}
        onAdded={(provider) => setOpen({ dialog: 'add model', provider })}
        onEveryField={(fields) => setOpen({ dialog: 'form', kind: 'provider', index: null, fields })}
      />
    );
  const suggestions = {
    api_key_secret: secretNames,
    'targets[].provider': entries.providers.map((provider) => textOf(provider['name'])),
  };
  if (open.dialog === 'add model')
    return (
      <AddModel
        {...{ ...shared, suggestions }}
        provider={open.provider}
        onPublish={(comment) => {
          onClose();
          onPublish(comment);
        }}
      />
    );
  const { kind, index, fields } = open;
  return (
    <EntryForm
      {...{ ...shared, suggestions, kind, index }}
      start={fields}
      onText={(changed) => {
        onText(changed);
        onClose();
      }}
    />
  );
}

interface Row {
  readonly fields: Fields;
  readonly name: string;
  readonly actions: ReactNode;
}

function EntryTable({
  caption,
  kind,
  entries,
  nameOf,
  columns,
  isDisabled,
  onAdd,
  onEdit,
  onRemove,
}: {
  readonly onAdd: () => void;
  readonly caption: string;
  readonly kind: EntryKind;
  readonly entries: readonly Fields[];
  readonly nameOf: (fields: Fields) => string;
  readonly columns: readonly Column<Row>[];
  readonly isDisabled: boolean;
  readonly onEdit: (entry: OpenEntry) => void;
  readonly onRemove: (entry: OpenEntry) => void;
}) {
  const rows = entries.map((fields, index): Row => {
    const name = nameOf(fields);
    const entry = { kind, index, fields };
    return {
      fields,
      name,
      actions: (
        <div className="flex justify-end gap-2">
          <Button small disabled={isDisabled} onClick={() => onEdit(entry)}>
            Edit<span className="sr-only"> {visible(name)}</span>
          </Button>
          <Button small kind="danger" disabled={isDisabled} onClick={() => onRemove(entry)}>
            Remove<span className="sr-only"> {visible(name)}</span>
          </Button>
        </div>
      ),
    };
  });
  return (
    <div className="grid gap-2">
      <div className="flex items-center justify-between">
        <h3 className="text-sm font-medium">{caption}</h3>
        <Button small disabled={isDisabled} onClick={onAdd}>
          Add {kind}
        </Button>
      </div>
      {rows.length > 0 && (
        <div className="max-h-[32rem] overflow-y-auto">
          <Table
            caption={caption}
            rows={rows}
            columns={columns}
            rowId={(row) => `${rows.indexOf(row)}`}
            middle
          />
        </div>
      )}
    </div>
  );
}

const ACTIONS: Column<Row> = {
  id: 'actions',
  header: () => <span className="sr-only">Actions</span>,
  cell: ({ row }) => row.original.actions,
};

const NAME: Column<Row> = {
  id: 'name',
  header: 'Name',
  cell: ({
    row: {
      original: { name, fields },
    },
  }) => (
    <>
      <Text className="font-medium">{name}</Text> {fields['disabled'] === true && <Badge>Disabled</Badge>}
    </>
  ),
};

const PROVIDER_COLUMNS: readonly Column<Row>[] = [
  NAME,
  {
    id: 'address',
    header: 'Preset or address',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => (
      <Text>{[original.fields['preset'], original.fields['base_url']].filter(Boolean).join(' · ')}</Text>
    ),
  },
  ACTIONS,
];

const MODEL_COLUMNS: readonly Column<Row>[] = [
  NAME,
  {
    id: 'targets',
    header: 'Targets',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Text>{targetsOf(original.fields).join(', ')}</Text>,
  },
  {
    id: 'prices',
    header: 'Input / output, USD per million',
    meta: { figures: true, hide: 'phone' },
    cell: ({ row: { original } }) => {
      const prices = original.fields['prices'];
      return isFields(prices) ? `${textOf(prices['input'])} / ${textOf(prices['output'])}` : '—';
    },
  },
  ACTIONS,
];
