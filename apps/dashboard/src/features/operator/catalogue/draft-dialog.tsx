import type { ReactNode } from 'react';
import { api } from '../../../api/client';
import { Dialog } from '../../../ui/dialog';
import { Text } from '../../../ui/values';
import { AddModel } from './add-model';
import { AddProvider } from './add-provider';
import { EntryForm } from './entry-form';
import { textOf } from './json-schema';
import { ProposePrices } from './propose-prices';
import { Publish } from './publish';
import { TestModel } from './test-model';
import type { Draft, DraftDialog as Opened } from './use-draft';

/** What was typed in them would be lost by a click outside. */
const PERSISTENT: readonly Opened['dialog'][] = ['form', 'add provider', 'add model'];

/** Edits and publishes the draft. Before the publication, nothing but the API key of a new provider is saved. */
export function DraftDialog({ of: draft }: { readonly of: Draft }) {
  const { dialog, setDialog } = draft;
  return (
    <Dialog
      open={dialog !== undefined}
      onOpenChange={() => setDialog(undefined)}
      title={dialog && titleOf(dialog)}
      description={
        dialog?.dialog === 'publish'
          ? 'Every router runs it within a second. Requests that started before keep their prices.'
          : undefined
      }
      wide
      persistent={dialog !== undefined && PERSISTENT.includes(dialog.dialog)}
    >
      {dialog && <Content of={draft} dialog={dialog} />}
    </Dialog>
  );
}

function titleOf(opened: Opened): ReactNode {
  switch (opened.dialog) {
    case 'add provider':
      return 'Add a provider';
    case 'add model':
      return 'Add a model';
    case 'propose prices':
      return 'Propose prices';
    case 'test':
      return 'Test a model';
    case 'publish':
      return 'Publish the draft';
    case 'form':
      if (opened.index === null) return `Add a ${opened.kind}`;
      return (
        <>
          Edit <Text>{textOf(opened.fields[opened.kind === 'provider' ? 'name' : 'id'])}</Text>
        </>
      );
  }
}

function Content({ of: draft, dialog }: { readonly of: Draft; readonly dialog: Opened }) {
  const { text, entries, secretNames, setDialog, change } = draft;
  const onClose = () => setDialog(undefined);
  if (dialog.dialog === 'publish')
    return (
      <Publish
        text={text}
        action="Publish"
        comment={dialog.comment}
        publish={(comment) =>
          api.call('POST /api/operator/catalogue/publish', {
            body: {
              draft_revision: draft.edit.revision,
              expected_version: draft.edit.version,
              comment,
            },
          })
        }
        onDone={onClose}
      />
    );
  if (dialog.dialog === 'propose prices') return <ProposePrices text={text} onText={change} />;
  if (!entries) return null;
  if (dialog.dialog === 'test') return <TestModel text={text} entries={entries} />;
  const shared = { text, entries, onText: change, onClose };
  if (dialog.dialog === 'add provider')
    return (
      <AddProvider
        {...{ ...shared, secretNames }}
        onAdded={(provider) => setDialog({ dialog: 'add model', provider })}
        onEveryField={(fields) => setDialog({ dialog: 'form', kind: 'provider', index: null, fields })}
      />
    );
  const suggestions = {
    api_key_secret: secretNames,
    'targets[].provider': entries.providers.map((provider) => textOf(provider['name'])),
  };
  if (dialog.dialog === 'add model')
    return <AddModel {...{ ...shared, suggestions }} provider={dialog.provider} onPublish={draft.publish} />;
  const { kind, index, fields } = dialog;
  return (
    <EntryForm
      {...{ ...shared, suggestions, kind, index }}
      start={fields}
      remove={draft.remove}
      onText={(changed) => {
        change(changed);
        onClose();
      }}
    />
  );
}
