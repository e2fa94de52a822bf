import { ApiError } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key, KeyBounds } from '../../api/keys';
import { Button } from '../../ui/button';
import { Conflict } from '../../ui/conflict';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { KeyFields, useKeyForm } from './key-form';
import { bodyOf, showAtField, valuesOf } from './key-form-values';

interface EditKeyProps {
  readonly of: Key;
  readonly bounds: KeyBounds;
  readonly onDone: () => void;
}

/** Saved only if the key is still what was read: of two editors the second is told, and decides. */
export function EditKey({ of, bounds, onDone }: EditKeyProps) {
  // What was read when the form was opened; what is read meanwhile must not pass for it.
  const [readVersion, setReadVersion] = useState(of.version);
  const queryClient = useQueryClient();
  const toast = useToast();
  const form = useKeyForm(valuesOf(of));
  const save = useMutation({
    mutationFn: (body: ReturnType<typeof bodyOf>) =>
      api.call('PATCH /api/organizations/{organization_id}/keys/{key_id}', {
        params: { organization_id: of.organization_id, key_id: of.id },
        body: { ...body, version: readVersion },
      }),
    onSuccess: async () => {
      await refreshKey(queryClient, of);
      toast('The key is changed, and in force everywhere.');
      onDone();
    },
    onError: (error) => showAtField(error, form.setError),
  });
  const conflict =
    save.error instanceof ApiError && save.error.code === 'version_conflict' ? save.error : undefined;
  const current = conflict?.details.metadata['current'] as Key | undefined;
  const shownAtField = Object.keys(form.formState.errors).length > 0;

  return (
    <form
      className="grid gap-8"
      onSubmit={form.handleSubmit((values) => save.mutate(bodyOf(values)))}
      noValidate
    >
      <KeyFields form={form} bounds={bounds} />
      {current && (
        <Conflict
          what="this key"
          onTakeTheirs={() => {
            form.reset(valuesOf(current));
            setReadVersion(current.version);
            save.reset();
          }}
          onKeepMine={() => {
            setReadVersion(current.version);
            save.reset();
          }}
        >
          Nothing of yours was saved. Look at what is there now, or keep what you wrote and save it over
          theirs.
        </Conflict>
      )}
      {save.error && !current && !shownAtField && <FailureLine error={save.error} />}
      <div className="flex gap-2">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={conflict !== undefined}>
          Save
        </Button>
        <Button kind="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** What was read of a key is old after a change of it. */
export async function refreshKey(queryClient: ReturnType<typeof useQueryClient>, key: Key): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['key', key.organization_id, key.id] }),
    queryClient.invalidateQueries({ queryKey: ['keys', key.organization_id] }),
    queryClient.invalidateQueries({ queryKey: ['key-names', key.organization_id] }),
  ]);
}
