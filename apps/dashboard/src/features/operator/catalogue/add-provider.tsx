import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { DialogActions } from '../../../ui/dialog';
import { Field, Input, Select } from '../../../ui/field';
import { Form } from '../../../ui/form';
import { FailureLine } from '../../../ui/states';
import { checkEntry, type CatalogueEntries } from './check-entry';
import { EntryIssues, entrySchema } from './entry-form';
import { textOf, withField, type Fields } from './json-schema';
import { useCatalogueChange } from './use-catalogue-change';
import { presetName, wordsOf } from './words';

interface AddProviderProps {
  readonly text: string;
  readonly entries: CatalogueEntries;
  readonly secretNames: readonly string[];
  readonly onText: (text: string) => void;
  readonly onAdded: (name: string) => void;
  readonly onEveryField: (fields: Fields) => void;
  readonly onClose: () => void;
}

/** A service and its API key. The key is stored as a secret; the provider is added to the text, and not saved. */
export function AddProvider({
  text,
  entries,
  secretNames,
  onText,
  onAdded,
  onEveryField,
  onClose,
}: AddProviderProps) {
  const [fields, setFields] = useState<Fields>({});
  const [apiKey, setApiKey] = useState('');
  const { properties = {} } = entrySchema(entries, 'provider');
  const preset = textOf(fields['preset']);
  const names = entries.providers.map((provider) => textOf(provider['name']));
  const name = textOf(fields['name']) || freeName(preset, names);
  const set = (field: string, value: string) => {
    setFields(withField(fields, field, value === '' ? undefined : value));
    add.reset();
  };
  const add = useCatalogueChange(
    async () => {
      const secret = freeName(name, secretNames);
      const entry = { ...fields, name, ...(apiKey !== '' && { api_key_secret: secret }) };
      const check = () => checkEntry({ text, entries, kind: 'provider', index: null, fields: entry });
      const checked = await check();
      if (apiKey === '') return checked;
      const byPath = new Map(checked.byPath);
      // It is stored when everything else is right.
      byPath.delete('api_key_secret');
      if (byPath.size > 0 || checked.others.length > 0) return { ...checked, byPath };
      await api.call('PUT /api/operator/catalogue/secrets', { body: { name: secret, value: apiKey } });
      const withKey = await check();
      if (!withKey.isValid)
        await api.call('DELETE /api/operator/catalogue/secrets/{secret_name}', {
          params: { secret_name: secret },
        });
      return withKey;
    },
    (checked) => {
      if (!checked.isValid) return;
      onText(checked.text);
      onAdded(name);
    },
  );
  const issues = add.data?.byPath ?? new Map<string, string>();
  // Such as the region of a cloud, which the check requires.
  const required = Object.keys(properties).filter(
    (field) => !['name', 'preset', 'base_url'].includes(field) && (issues.has(field) || field in fields),
  );
  const input = (field: string, hint?: string, placeholder?: string) => (
    <Field key={field} label={wordsOf(field)} hint={hint} error={issues.get(field)}>
      <Input
        value={textOf(fields[field])}
        placeholder={placeholder}
        onChange={({ target }) => set(field, target.value)}
      />
    </Field>
  );
  return (
    <Form onSubmit={() => add.mutate(undefined)}>
      <Field label="Service" error={issues.get('preset')}>
        <Select value={preset} onChange={({ target }) => set('preset', target.value)}>
          <option value="">Another service with the API of OpenAI</option>
          {properties['preset']?.enum?.map((option) => (
            <option key={option} value={option}>
              {presetName(option)}
            </option>
          ))}
        </Select>
      </Field>
      {preset === '' && input('base_url', 'Such as https://models.example.com/v1.')}
      <Field label="API key" hint="Stored encrypted, and not shown again. Empty for the identity of a cloud.">
        <Input
          type="password"
          autoComplete="off"
          maxLength={8_192}
          value={apiKey}
          onChange={({ target }) => setApiKey(target.value)}
        />
      </Field>
      {input('name', 'For metrics and the dashboard.', freeName(preset, names))}
      {required.map((field) => input(field, properties[field]?.description))}
      {add.error && <FailureLine error={add.error} />}
      {add.data && add.data.others.length > 0 && <EntryIssues of={add.data.others} kind="provider" />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button onClick={() => onEveryField({ ...fields, ...(name !== '' && { name }) })}>Every field</Button>
        <Button type="submit" kind="primary" busy={add.isPending}>
          Add provider
        </Button>
      </DialogActions>
    </Form>
  );
}

/** The name, with a number if it is taken. */
function freeName(name: string, taken: readonly string[]): string {
  if (name === '' || !taken.includes(name)) return name;
  let number = 2;
  while (taken.includes(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}
