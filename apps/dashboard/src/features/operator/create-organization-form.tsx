import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { organizationsQuery, type Organization } from '../../api/organizations';
import { Button } from '../../ui/button';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { FailureLine } from '../../ui/states';

export function CreateOrganizationForm({
  onCreated,
}: {
  readonly onCreated?: (created: Organization) => void;
}) {
  const [name, setName] = useState('');
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () => api.call('POST /api/organizations', { body: { name: name.trim() } }),
    onSuccess: async ({ organization }) => {
      await queryClient.invalidateQueries({ queryKey: organizationsQuery.queryKey });
      await queryClient.invalidateQueries({ queryKey: ['all-organizations'] });
      setName('');
      onCreated?.(organization);
    },
  });
  return (
    <Form onSubmit={() => create.mutate()}>
      <Field
        label="Name"
        hint="New organizations start with the default limits, which are also their ceilings."
      >
        <Input required maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
      </Field>
      {create.error && <FailureLine error={create.error} />}
      <Button type="submit" kind="primary" className="justify-self-start" busy={create.isPending}>
        Create organization
      </Button>
    </Form>
  );
}
