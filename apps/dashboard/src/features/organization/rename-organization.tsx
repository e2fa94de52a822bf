import { useState } from 'react';
import { api } from '../../api/client';
import type { Organization } from '../../api/organizations';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { VersionedFormEnd } from '../../ui/versioned-form';
import { useOrganizationChange } from './use-organization-change';

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
  const [name, setName] = useState(organization.name);
  const { save, setReadVersion } = useOrganizationChange({
    organization,
    send: (version) =>
      api.call('PATCH /api/organizations/{organization_id}', {
        params: { organization_id: organization.id },
        body: { name: name.trim(), version },
      }),
    saved: 'Organization renamed.',
    onDone: onClose,
  });
  return (
    <Form
      noValidate
      onSubmit={() => {
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
    </Form>
  );
}
