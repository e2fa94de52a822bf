import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key, KeyBounds } from '../../api/keys';
import { useToast } from '../../ui/toast';
import { UnsavedChanges } from '../../ui/unsaved-changes';
import { VersionedFormEnd } from '../../ui/versioned-form';
import { KeyFields, useKeyForm } from './key-form';
import { bodyOf, setFieldError, valuesOf } from './key-form-values';

interface EditKeyProps {
  readonly of: Key;
  readonly bounds: KeyBounds;
  readonly onDone: () => void;
}

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

  return (
    <form
      className="grid gap-8"
      onSubmit={form.handleSubmit((values) => save.mutate(bodyOf(values)))}
      noValidate
    >
      <UnsavedChanges when={form.formState.isDirty && !save.isSuccess} />
      <KeyFields organizationId={of.organization_id} form={form} bounds={bounds} />
      <VersionedFormEnd<Key>
        what="this key"
        save={save}
        onVersion={setReadVersion}
        onDiscard={(current) => form.reset(valuesOf(current))}
        onCancel={onDone}
        hasFieldErrors={Object.keys(form.formState.errors).length > 0}
      />
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
