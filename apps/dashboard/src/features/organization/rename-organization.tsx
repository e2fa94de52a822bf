import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { organizationQuery, type Organization } from '../../api/organizations';
import { sessionQuery } from '../../api/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { useToast } from '../../ui/toast';
import { VersionedFormEnd } from '../../ui/versioned-form';

export function RenameOrganization({ organization }: { readonly organization: Organization }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Rename
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Rename organization"
        description="Everyone sees the new name. The ID stays, so nothing that uses it changes."
      >
        <RenameForm organization={organization} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

interface RenameFormProps {
  readonly organization: Organization;
  readonly onClose: () => void;
}

function RenameForm({ organization, onClose }: RenameFormProps) {
  const { id } = organization;
  const [name, setName] = useState(organization.name);
  const [readVersion, setReadVersion] = useState(organization.version);
  const queryClient = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () =>
      api.call('PATCH /api/organizations/{organization_id}', {
        params: { organization_id: id },
        body: { name: name.trim(), version: readVersion },
      }),
    onSuccess: async ({ organization: changed }) => {
      queryClient.setQueryData(organizationQuery(id).queryKey, changed);
      // Both have the name, for the switcher.
      await queryClient.invalidateQueries({ queryKey: ['organizations'] });
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      toast('Organization renamed.');
      onClose();
    },
  });
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') save.mutate();
      }}
    >
      <Field label="Name" error={name.trim() === '' ? 'Enter a name.' : undefined}>
        <Input
          required
          autoFocus
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </Field>
      <VersionedFormEnd<Organization>
        what="this organization"
        save={save}
        onVersion={setReadVersion}
        onDiscard={(current) => setName(current.name)}
        onCancel={onClose}
      />
    </form>
  );
}
