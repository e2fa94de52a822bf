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
import { bodyOf, setFieldError, valuesOf } from './key-form-values';

interface EditKeyProps {
  readonly of: Key;
  readonly bounds: KeyBounds;
  readonly onDone: () => void;
}

/** Saves with optimistic locking; a conflict lets the person choose. */
export function EditKey({ of, bounds, onDone }: EditKeyProps) {
  // The version when the form was opened, not that of later reloads.
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
      toast('Key updated.');
      onDone();
    },
    onError: (error) => setFieldError(error, form.setError),
  });
  const conflict =
    save.error instanceof ApiError && save.error.code === 'version_conflict' ? save.error : undefined;
  const current = conflict?.details.metadata['current'] as Key | undefined;
  const hasFieldErrors = Object.keys(form.formState.errors).length > 0;

  return (
    <form
      className="grid gap-8"
      onSubmit={form.handleSubmit((values) => save.mutate(bodyOf(values)))}
      noValidate
    >
      <KeyFields organizationId={of.organization_id} form={form} bounds={bounds} />
      {current && (
        <Conflict
          what="this key"
          onDiscard={() => {
            form.reset(valuesOf(current));
            setReadVersion(current.version);
            save.reset();
          }}
          onKeep={() => {
            setReadVersion(current.version);
            save.reset();
          }}
        >
          Your changes were not saved. Discard them to see the current version, or keep them and save again.
        </Conflict>
      )}
      {save.error && !current && !hasFieldErrors && <FailureLine error={save.error} />}
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

/** Reloads a key and the lists that contain it after a change. */
export async function refreshKey(queryClient: ReturnType<typeof useQueryClient>, key: Key): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['key', key.organization_id, key.id] }),
    queryClient.invalidateQueries({ queryKey: ['keys', key.organization_id] }),
    queryClient.invalidateQueries({ queryKey: ['key-names', key.organization_id] }),
  ]);
}
