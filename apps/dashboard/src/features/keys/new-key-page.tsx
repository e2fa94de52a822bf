import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { effectiveLimitsOf, organizationQuery } from '../../api/organizations';
import { Button, buttonClass } from '../../ui/button';
import { Page } from '../../ui/page';
import { FailureLine } from '../../ui/states';
import { UnsavedChanges } from '../../ui/unsaved-changes';
import { KeyFields, useKeyForm } from './key-form';
import { bodyOf, EMPTY_KEY, setFieldError } from './key-form-values';
import { OneTimeSecret } from './one-time-secret';

type CreatedKey = Result<'POST /api/organizations/{organization_id}/keys'>;

const route = getRouteApi('/signed-in/o/$organizationId/keys/new');

export function NewKeyPage() {
  const { organizationId } = route.useParams();
  const [created, setCreated] = useState<CreatedKey>();
  return (
    <Page
      narrow
      title={created === undefined ? 'Create key' : 'Key created'}
      description={created === undefined ? undefined : 'Copy it now; you won’t see it again.'}
    >
      {created === undefined ? (
        <NewKeyForm organizationId={organizationId} onCreated={setCreated} />
      ) : (
        <div className="grid gap-6">
          <OneTimeSecret secret={created.secret} of={created.key} />
          <Link
            to="/o/$organizationId/keys"
            params={{ organizationId }}
            // The person says that the secret is no longer needed.
            ignoreBlocker
            className={`${buttonClass('primary')} justify-self-start`}
          >
            Done
          </Link>
        </div>
      )}
    </Page>
  );
}

interface NewKeyFormProps {
  readonly organizationId: string;
  readonly onCreated: (created: CreatedKey) => void;
}

function NewKeyForm({ organizationId, onCreated }: NewKeyFormProps) {
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const queryClient = useQueryClient();
  const form = useKeyForm(EMPTY_KEY);
  const create = useMutation({
    mutationFn: (body: ReturnType<typeof bodyOf>) =>
      api.call('POST /api/organizations/{organization_id}/keys', {
        params: { organization_id: organizationId },
        body,
      }),
    onSuccess: (created) => {
      void queryClient.invalidateQueries({ queryKey: ['keys', organizationId] });
      void queryClient.invalidateQueries({ queryKey: ['key-names', organizationId] });
      onCreated(created);
    },
    onError: (error) => setFieldError(error, form.setError),
  });
  const hasFieldErrors = Object.keys(form.formState.errors).length > 0;
  return (
    <form
      className="grid gap-8"
      onSubmit={form.handleSubmit((values) => create.mutate(bodyOf(values)))}
      noValidate
    >
      <UnsavedChanges when={form.formState.isDirty && !create.isSuccess} />
      <KeyFields
        organizationId={organizationId}
        form={form}
        bounds={organization && effectiveLimitsOf(organization)}
      />
      {create.error && !hasFieldErrors && <FailureLine error={create.error} />}
      <div className="flex gap-2">
        <Button type="submit" kind="primary" busy={create.isPending}>
          Create key
        </Button>
        <Link to="/o/$organizationId/keys" params={{ organizationId }} className={buttonClass('quiet')}>
          Cancel
        </Link>
      </div>
    </form>
  );
}
