import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { DialogActions } from '../../../ui/dialog';
import { Notice } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Text } from '../../../ui/values';
import type { CatalogueIssue } from './catalogue-state';
import type { Fields, Schema } from './json-schema';
import { SchemaFields, type EntryContext } from './schema-field';

export type CatalogueEntries = Result<'POST /api/operator/catalogue/entries'>;
export type EntryKind = 'provider' | 'model';

interface EntryFormProps {
  readonly text: string;
  readonly entries: CatalogueEntries;
  readonly kind: EntryKind;
  /** Null: a new entry. */
  readonly index: number | null;
  readonly start: Fields;
  readonly suggestions: EntryContext['suggestions'];
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

interface Checked {
  readonly text: string;
  readonly issues: readonly CatalogueIssue[];
}

/** Every field of a provider or model. Its check has the messages of the models file. */
export function EntryForm({
  text,
  entries,
  kind,
  index,
  start,
  suggestions,
  onText,
  onClose,
}: EntryFormProps) {
  const list = kind === 'provider' ? 'providers' : 'models';
  const [fields, setFields] = useState<Fields>(start);
  // Another operator's draft may replace the text, and with it the position of the entry.
  const [openedFor] = useState(text);
  const apply = (changed: string) => {
    onText(changed);
    onClose();
  };
  const check = useMutation({
    async mutationFn(): Promise<Checked> {
      const body = { text, kind, index, entry: { ...fields } };
      const edited = await api.call('POST /api/operator/catalogue/entries/edit', { body });
      const checked = await api.call('POST /api/operator/catalogue/check', { body: edited });
      const prefix = `${list}[${index ?? entries[list].length}]`;
      const issues = checked.issues.flatMap((issue) => {
        const message = withoutPrefix(issue.message, prefix);
        return message === undefined ? [] : [{ ...issue, message }];
      });
      return { text: edited.text, issues };
    },
    onSuccess: (checked) => {
      if (checked.issues.length === 0) apply(checked.text);
    },
  });
  const checked = check.data;
  const { byPath, others } = issuesByPath(checked?.issues ?? []);
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        check.mutate();
      }}
    >
      <SchemaFields
        schema={schemaOf(entries.schema, list)}
        path=""
        value={fields}
        onChange={(changed) => {
          setFields(changed);
          check.reset();
        }}
        context={{ issues: byPath, suggestions }}
      />
      {check.error && <FailureLine error={check.error} />}
      {text !== openedFor && (
        <Notice tone="bad" title="The text was changed meanwhile. Close the form, and open it again." />
      )}
      {checked && checked.issues.length > 0 && (
        <Notice tone="bad" title={`The ${kind} has errors`}>
          <ul className="grid gap-1">
            {others.map((message) => (
              <li key={message}>
                <Text>{message}</Text>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        {checked && checked.issues.length > 0 && (
          <Button onClick={() => apply(checked.text)}>Apply with errors</Button>
        )}
        <Button type="submit" kind="primary" busy={check.isPending} disabled={text !== openedFor}>
          Apply to the text
        </Button>
      </DialogActions>
    </form>
  );
}

function schemaOf(schema: Fields, list: 'providers' | 'models'): Schema {
  return (schema as Schema).properties?.[list]?.items ?? {};
}

/** The message of an issue of this entry, from its path within the entry on. */
function withoutPrefix(message: string, prefix: string): string | undefined {
  if (!message.startsWith(prefix)) return undefined;
  const rest = message.slice(prefix.length);
  return /^[.: ]/.test(rest) ? rest.replace(/^\./, '') : undefined;
}

/** "prices.input (line 3): is wrong" belongs to the field prices.input. */
function issuesByPath(issues: readonly CatalogueIssue[]) {
  const byPath = new Map<string, string>();
  const others: string[] = [];
  for (const { message } of issues) {
    const [, path, problem] = /^([^\s:]+)(?: \(line \d+\))?: (.*)$/s.exec(message) ?? [];
    if (path === undefined || problem === undefined) others.push(message.replace(/^[: ]+/, ''));
    else byPath.set(path, problem);
  }
  return { byPath, others };
}
