import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { Confirm } from '../../../ui/confirm';
import { Conflict } from '../../../ui/conflict';
import { FailureLine } from '../../../ui/states';
import { useToast } from '../../../ui/toast';
import { Text, Time } from '../../../ui/values';
import { Checked } from './changes';
import { useCatalogueChange } from './use-catalogue-change';
import type { Draft } from './use-draft';

/** The state of the draft of the next version, and what can be done with it. */
export function DraftBar({ of }: { readonly of: Draft }) {
  const { state, edit, check, save } = of;
  const { draft } = state;
  const [discarding, setDiscarding] = useState(false);
  const toast = useToast();
  const discard = useCatalogueChange(
    () =>
      api.call('POST /api/operator/catalogue/draft/discard', { body: { expected_revision: edit.revision } }),
    () => {
      setDiscarding(false);
      toast('Draft discarded.');
    },
  );
  return (
    <>
      <section
        aria-label="Draft"
        className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 rounded-md border border-line bg-sunken px-3 py-2"
      >
        <p className="text-sm text-ink-soft">
          <span className="font-medium text-ink">{edit.isEdited ? 'Draft, not saved' : 'Draft'}</span>
          {' · '}
          {draft ? (
            <>
              saved <Time at={draft.saved_at} /> by <Text>{draft.saved_by}</Text>, shared by all operators
            </>
          ) : (
            'changes apply to requests once they are published'
          )}
        </p>
        <div className="flex flex-wrap gap-2">
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
            onClick={() => of.publish('')}
          >
            Publish
          </Button>
        </div>
      </section>
      {edit.hasConflict && (
        <Conflict what="the catalogue" onDiscard={edit.discardEdits} onKeep={edit.keepEdits}>
          Your changes are not saved. Discard them to see the current text, or keep them to replace it.
        </Conflict>
      )}
      {save.error && <FailureLine error={save.error} />}
      {check.error && <FailureLine error={check.error} />}
      {check.data && <Checked of={check.data} />}
      <Confirm
        open={discarding}
        onOpenChange={setDiscarding}
        title="Discard the draft?"
        action="Discard draft"
        danger
        of={discard}
        onConfirm={() => discard.mutate(undefined)}
      >
        <p>The draft of all operators is deleted. The version in effect stays.</p>
      </Confirm>
    </>
  );
}
