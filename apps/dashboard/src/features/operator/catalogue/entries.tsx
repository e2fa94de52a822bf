import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { useDebounced } from '../../../ui/debounce';
import { Dialog } from '../../../ui/dialog';
import { Badge } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Table, type Column } from '../../../ui/table';
import { useToast } from '../../../ui/toast';
import { Text, visible } from '../../../ui/values';
import { EntryForm, type CatalogueEntries, type EntryKind } from './entry-form';
import { isFields, type Fields } from './json-schema';

interface EntriesProps {
  /** The edited text. */
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly secretNames: readonly string[];
}

/** A provider or model that a form shows. */
export interface OpenEntry {
  readonly kind: EntryKind;
  /** Null: a new entry. */
  readonly index: number | null;
  readonly fields: Fields;
}

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

/** The providers and models of the edited text, each with a form. Nothing is saved. */
export function Entries({ text, onText, secretNames }: EntriesProps) {
  const entries = useEntries(text);
  const [shown, setShown] = useState<CatalogueEntries>();
  const [open, setOpen] = useState<OpenEntry>();
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
  const actions = { isDisabled: !entries, onEdit: setOpen, onRemove: remove.mutate };
  return (
    <>
      <EntryTable
        {...actions}
        caption="Providers"
        kind="provider"
        entries={shown.providers}
        nameOf={({ name }) => textOf(name)}
        columns={PROVIDER_COLUMNS}
      />
      <EntryTable
        {...actions}
        caption="Models"
        kind="model"
        entries={shown.models}
        nameOf={({ id }) => textOf(id)}
        columns={MODEL_COLUMNS}
      />
      {remove.error && <FailureLine error={remove.error} />}
      <EntryDialog
        {...{ text, onText, secretNames }}
        entries={shown}
        open={open}
        onClose={() => setOpen(undefined)}
      />
    </>
  );
}

/** The form of a provider or model. */
export function EntryDialog({
  open,
  entries,
  secretNames,
  onClose,
  ...rest
}: EntriesProps & {
  readonly open: OpenEntry | undefined;
  readonly entries: CatalogueEntries;
  readonly onClose: () => void;
}) {
  const name = open && textOf(open.kind === 'provider' ? open.fields['name'] : open.fields['id']);
  return (
    <Dialog
      open={open !== undefined}
      onOpenChange={onClose}
      title={
        open?.index === null ? (
          `Add a ${open.kind}`
        ) : (
          <>
            Edit <Text>{name ?? ''}</Text>
          </>
        )
      }
      description="Empty fields have their defaults."
      wide
      persistent
    >
      {open && (
        <EntryForm
          {...rest}
          entries={entries}
          kind={open.kind}
          index={open.index}
          start={open.fields}
          suggestions={{
            api_key_secret: secretNames,
            'targets[].provider': entries.providers.map((provider) => textOf(provider['name'])),
          }}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

interface Row {
  readonly fields: Fields;
  readonly name: string;
  readonly actions: React.ReactNode;
}

function EntryTable({
  caption,
  kind,
  entries,
  nameOf,
  columns,
  isDisabled,
  onEdit,
  onRemove,
}: {
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
        <Button small disabled={isDisabled} onClick={() => onEdit({ kind, index: null, fields: {} })}>
          Add {kind}
        </Button>
      </div>
      {rows.length > 0 && (
        <Table
          caption={caption}
          rows={rows}
          columns={columns}
          rowId={(row) => `${rows.indexOf(row)}`}
          middle
        />
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

function targetsOf({ targets }: Fields): string[] {
  if (!Array.isArray(targets)) return [];
  return targets.map((target: unknown) =>
    isFields(target) ? `${textOf(target['provider'])}/${textOf(target['model'])}` : '',
  );
}

/** A text in the draft may have any value in any field. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
