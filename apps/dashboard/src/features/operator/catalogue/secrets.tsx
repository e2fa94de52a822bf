import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { Confirm } from '../../../ui/confirm';
import { Dialog } from '../../../ui/dialog';
import { Field, Input } from '../../../ui/field';
import { DialogForm } from '../../../ui/form';
import { Badge } from '../../../ui/notice';
import { Section } from '../../../ui/page';
import { Table, type Column } from '../../../ui/table';
import { useToast } from '../../../ui/toast';
import { Id, Text, Time, visible } from '../../../ui/values';
import type { CatalogueState, ProviderSecret } from './catalogue-state';
import { useCatalogueChange } from './use-catalogue-change';

/** The API keys of providers, whose values are never shown. */
export function Secrets({ of: { secrets } }: { readonly of: CatalogueState }) {
  const [adding, setAdding] = useState(false);
  return (
    <Section
      title="Stored secrets"
      description="API keys of providers, encrypted. Routers use a new value within a second, without a new version."
      actions={<Button onClick={() => setAdding(true)}>Add secret</Button>}
    >
      {secrets.length === 0 ? (
        <p className="text-sm text-ink-soft">No secrets yet.</p>
      ) : (
        <Table caption="Stored secrets" rows={secrets} columns={COLUMNS} rowId={({ name }) => name} />
      )}
      <Dialog open={adding} onOpenChange={setAdding} title="Add a secret">
        <SecretForm onDone={() => setAdding(false)} />
      </Dialog>
    </Section>
  );
}

function SecretForm({ name: fixed, onDone }: { readonly name?: string; readonly onDone: () => void }) {
  const [name, setName] = useState(fixed ?? '');
  const [value, setValue] = useState('');
  const toast = useToast();
  const save = useCatalogueChange(
    () => api.call('PUT /api/operator/catalogue/secrets', { body: { name: name.trim(), value } }),
    () => {
      toast('Secret stored.');
      onDone();
    },
  );
  return (
    <DialogForm of={save} action="Store" onSubmit={() => save.mutate(undefined)} onCancel={onDone}>
      {fixed === undefined && (
        <Field label="Name" hint="Providers refer to it with api_key_secret.">
          <Input required maxLength={63} value={name} onChange={({ target }) => setName(target.value)} />
        </Field>
      )}
      <Field label="Value" hint="Not shown again.">
        <Input
          required
          type="password"
          autoComplete="off"
          maxLength={8_192}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      </Field>
    </DialogForm>
  );
}

function Actions({ of: secret }: { readonly of: ProviderSecret }) {
  const [replacing, setReplacing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const toast = useToast();
  const remove = useCatalogueChange(
    () =>
      api.call('DELETE /api/operator/catalogue/secrets/{secret_name}', {
        params: { secret_name: secret.name },
      }),
    () => toast('Secret deleted.'),
  );
  return (
    <div className="flex justify-end gap-2">
      <Button small onClick={() => setReplacing(true)}>
        Replace
        <span className="sr-only"> {visible(secret.name)}</span>
      </Button>
      {!secret.used && (
        <Button small kind="danger" onClick={() => setDeleting(true)}>
          Delete
          <span className="sr-only"> {visible(secret.name)}</span>
        </Button>
      )}
      <Dialog
        open={replacing}
        onOpenChange={setReplacing}
        title={
          <>
            Replace <Text>{secret.name}</Text>
          </>
        }
        description="Revoke the old key at the provider after every router has loaded the new one."
      >
        <SecretForm name={secret.name} onDone={() => setReplacing(false)} />
      </Dialog>
      <Confirm
        open={deleting}
        onOpenChange={setDeleting}
        title="Delete the secret?"
        action="Delete secret"
        danger
        of={remove}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>Drafts and earlier versions that name it can no longer be published.</p>
      </Confirm>
    </div>
  );
}

const COLUMNS: readonly Column<ProviderSecret>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ row: { original: secret } }) => (
      <>
        <Text className="font-medium">{secret.name}</Text>{' '}
        {secret.used ? <Badge tone="good">In use</Badge> : <Badge>Not used</Badge>}
      </>
    ),
  },
  {
    id: 'hint',
    header: 'Ends with',
    meta: { hide: 'phone' },
    cell: ({ row }) => (row.original.hint === '' ? '—' : <Id>{`…${row.original.hint}`}</Id>),
  },
  {
    id: 'changed',
    header: 'Changed',
    meta: { hide: 'phone' },
    cell: ({ row: { original: secret } }) => (
      <>
        <Time at={secret.changed_at} /> by <Text>{secret.changed_by}</Text>
      </>
    ),
  },
  {
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    meta: { className: 'text-right' },
    cell: ({ row }) => <Actions of={row.original} />,
  },
];
