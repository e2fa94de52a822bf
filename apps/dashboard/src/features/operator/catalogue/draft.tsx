import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { Confirm } from '../../../ui/confirm';
import { Conflict } from '../../../ui/conflict';
import { Dialog } from '../../../ui/dialog';
import { Field, TextArea } from '../../../ui/field';
import { Section } from '../../../ui/page';
import { FailureLine } from '../../../ui/states';
import { useToast } from '../../../ui/toast';
import { UnsavedChanges } from '../../../ui/unsaved-changes';
import { Text, Time } from '../../../ui/values';
import type { CatalogueState } from './catalogue-state';
import { Checked } from './changes';
import { Entries, useEntries } from './entries';
import { ProposePrices } from './propose-prices';
import { Publish } from './publish';
import { TestModel } from './test-model';
import { useCatalogueChange } from './use-catalogue-change';
import { useDraftText } from './use-draft-text';

/** Edits, checks and publishes the draft of the next version. */
export function Draft({ of: state }: { readonly of: CatalogueState }) {
  const { draft } = state;
  const edit = useDraftText(state);
  const { text, revision } = edit;
  const entries = useEntries(text);
  /** The start of the version's comment, while the draft is being published. */
  const [publishing, setPublishing] = useState<string>();
  const [discarding, setDiscarding] = useState(false);
  const toast = useToast();
  const check = useMutation({
    mutationFn: () => api.call('POST /api/operator/catalogue/check', { body: { text } }),
  });
  const save = useCatalogueChange(
    async () => {
      const body = { text, expected_revision: revision };
      const { draft: saved } = await api.call('PUT /api/operator/catalogue/draft', { body });
      edit.saved(saved.revision);
    },
    () => toast('Draft saved.'),
  );
  const discard = useCatalogueChange(
    () => api.call('POST /api/operator/catalogue/draft/discard', { body: { expected_revision: revision } }),
    () => {
      setDiscarding(false);
      toast('Draft discarded.');
    },
  );
  /** Saves the draft first. */
  const publish = (comment: string) =>
    edit.isEdited
      ? save.mutate(undefined, { onSuccess: () => setPublishing(comment) })
      : setPublishing(comment);
  const secretNames = state.secrets.map(({ name }) => name);
  const change = (changed: string) => {
    edit.setText(changed);
    check.reset();
  };
  return (
    <Section
      title="Draft"
      description={
        draft ? (
          <>
            Saved <Time at={draft.saved_at} /> by <Text>{draft.saved_by}</Text>. All operators share it.
          </>
        ) : (
          'Edit the text in effect, or import a file, to start a draft.'
        )
      }
      actions={
        <>
          <Import onText={change} />
          {draft && <Button onClick={() => setDiscarding(true)}>Discard</Button>}
          <Button busy={check.isPending} onClick={() => check.mutate()}>
            Check
          </Button>
          <Button busy={save.isPending} disabled={!edit.isEdited} onClick={() => save.mutate(undefined)}>
            Save draft
          </Button>
          <Button
            kind="primary"
            disabled={(!draft && !edit.isEdited) || save.isPending}
            onClick={() => publish('')}
          >
            Publish
          </Button>
        </>
      }
    >
      <UnsavedChanges when={edit.isEdited}>The edited catalogue is not saved as a draft.</UnsavedChanges>
      {edit.hasConflict && (
        <Conflict what="the catalogue" onDiscard={edit.discardEdits} onKeep={edit.keepEdits}>
          Your changes are not saved. Discard them to see the current text, or keep them to replace it.
        </Conflict>
      )}
      {save.error && <FailureLine error={save.error} />}
      {check.error && <FailureLine error={check.error} />}
      {check.data && <Checked of={check.data} />}
      <Entries {...{ text, entries, secretNames }} onText={change} onPublish={publish} />
      <Field
        label="Catalogue text"
        hint="YAML in the schema of the models file. Name stored secrets with api_key_secret."
      >
        <TextArea
          rows={20}
          spellCheck={false}
          className="font-mono text-xs"
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      </Field>
      <ProposePrices text={text} onText={change} />
      {entries && <TestModel text={text} entries={entries} />}
      <Dialog
        open={publishing !== undefined}
        onOpenChange={() => setPublishing(undefined)}
        title="Publish the draft"
        description="Every router runs it within a second. Requests that started before keep their prices."
        wide
      >
        <Publish
          text={text}
          action="Publish"
          comment={publishing}
          publish={(comment) =>
            api.call('POST /api/operator/catalogue/publish', {
              body: { draft_revision: revision, expected_version: edit.version, comment },
            })
          }
          onDone={() => setPublishing(undefined)}
        />
      </Dialog>
      <Confirm
        open={discarding}
        onOpenChange={setDiscarding}
        title="Discard the draft?"
        action="Discard draft"
        danger
        busy={discard.isPending}
        error={discard.error}
        onConfirm={() => discard.mutate(undefined)}
      >
        <p>The draft of all operators is deleted. The version in effect stays.</p>
      </Confirm>
    </Section>
  );
}

/** Replaces the text by that of a file. */
function Import({ onText }: { readonly onText: (text: string) => void }) {
  return (
    <label className="inline-flex h-[2.125rem] cursor-pointer items-center rounded-md border border-line-strong bg-paper px-3 font-medium focus-within:outline-2 hover:bg-sunken">
      Import YAML
      <input
        type="file"
        accept=".yaml,.yml"
        className="sr-only"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          void file?.text().then(onText);
          target.value = '';
        }}
      />
    </label>
  );
}
