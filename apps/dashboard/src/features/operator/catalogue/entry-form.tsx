import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../ui/button';
import { DialogActions } from '../../../ui/dialog';
import { Notice } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Form } from '../../../ui/form';
import { Text } from '../../../ui/values';
import { checkEntry, LIST_OF, type CatalogueEntries, type EntryKind } from './check-entry';
import type { Fields, Schema } from './json-schema';
import type { Draft } from './use-draft';
import { SchemaFields, type EntryContext } from './schema-field';

interface EntryFormProps {
  readonly text: string;
  readonly entries: CatalogueEntries;
  readonly kind: EntryKind;
  /** Null: a new entry. */
  readonly index: number | null;
  readonly start: Fields;
  readonly suggestions: EntryContext['suggestions'];
  /** Removes the entry from the draft; undefined for a new entry. */
  readonly remove?: Draft['remove'];
  readonly onText: (text: string, fields: Fields) => void;
  readonly onClose: () => void;
}

/** Every field of a provider or model: the usual ones first. Its check has the messages of the models file. */
export function EntryForm({
  text,
  entries,
  kind,
  index,
  start,
  suggestions,
  remove,
  onText,
  onClose,
}: EntryFormProps) {
  const [fields, setFields] = useState<Fields>(start);
  // Another operator's draft may replace the text, and with it the position of the entry.
  const [openedFor] = useState(text);
  const check = useMutation({
    mutationFn: () => checkEntry({ text, entries, kind, index, fields }),
    onSuccess: (checked) => {
      if (checked.isValid) onText(checked.text, fields);
    },
  });
  const checked = check.data;
  return (
    <Form onSubmit={() => check.mutate()}>
      <SchemaFields
        schema={entrySchema(entries, kind)}
        path=""
        value={fields}
        onChange={(changed) => {
          setFields(changed);
          check.reset();
        }}
        context={{ kind, issues: checked?.byPath ?? new Map(), suggestions }}
      />
      {check.error && <FailureLine error={check.error} />}
      {text !== openedFor && (
        <Notice tone="bad" title="The draft was changed meanwhile. Close the form, and open it again." />
      )}
      {checked && !checked.isValid && <EntryIssues of={checked.others} kind={kind} />}
      {remove?.error && <FailureLine error={remove.error} />}
      <DialogActions>
        {remove && index !== null && (
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ kind, index })}>
            Remove from the draft
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        {checked && !checked.isValid && (
          <Button onClick={() => onText(checked.text, fields)}>Apply with errors</Button>
        )}
        <Button type="submit" kind="primary" busy={check.isPending} disabled={text !== openedFor}>
          Apply to the draft
        </Button>
      </DialogActions>
    </Form>
  );
}

/** The issues of an entry that belong to no field of the form. */
export function EntryIssues({ of, kind }: { readonly of: readonly string[]; readonly kind: EntryKind }) {
  return (
    <Notice tone="bad" title={`The ${kind} has errors`}>
      <ul className="grid gap-1">
        {of.map((message) => (
          <li key={message}>
            <Text>{message}</Text>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

export function entrySchema({ schema }: CatalogueEntries, kind: EntryKind): Schema {
  return (schema as Schema).properties?.[LIST_OF[kind]]?.items ?? {};
}
