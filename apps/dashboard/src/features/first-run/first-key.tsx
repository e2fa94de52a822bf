import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { FailureLine } from '../../ui/states';

interface FirstKeyProps {
  readonly organizationId: string;
  readonly onCreated: (secret: string) => void;
}

/** Creates an unrestricted key. */
export function FirstKey({ organizationId, onCreated }: FirstKeyProps) {
  const [name, setName] = useState('First key');
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/keys', {
        params: { organization_id: organizationId },
        body: { name: name.trim(), scopes: ['chat', 'usage:read'] },
      }),
    onSuccess: async ({ secret }) => {
      onCreated(secret);
      await queryClient.invalidateQueries({ queryKey: ['keys', organizationId] });
    },
  });
  return (
    <Form className="flex flex-wrap items-end gap-2" onSubmit={() => create.mutate()}>
      <Field label="Key name" className="min-w-60 flex-1">
        <Input required maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
      </Field>
      <Button type="submit" kind="primary" busy={create.isPending}>
        Create key
      </Button>
      {create.error && (
        <div className="basis-full">
          <FailureLine error={create.error} />
        </div>
      )}
    </Form>
  );
}
