import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { organizationQuery, type Organization } from '../../api/organizations';
import { usePermission } from '../../api/session';
import { Button } from '../../ui/button';
import { Field, Input } from '../../ui/field';
import { Fact, Facts, Section } from '../../ui/page';
import { useToast } from '../../ui/toast';
import { VersionedFormEnd } from '../../ui/versioned-form';

/** The entries of the metadata of requests by which usage is summed. */
export function UsageTags({ organization }: { readonly organization: Organization }) {
  const can = usePermission(organization.id);
  const [editing, setEditing] = useState(false);
  return (
    <Section
      title="Usage tags"
      description="Entries of the metadata of requests, such as customer_id. Their values are stored with each generation, and usage can be grouped by them. Other metadata is not stored."
      actions={
        can('organization:limits') &&
        !editing && <Button onClick={() => setEditing(true)}>Change usage tags</Button>
      }
    >
      {editing ? (
        <UsageTagsForm organization={organization} onDone={() => setEditing(false)} />
      ) : (
        <Facts>
          <Fact name="Tags">{organization.usage_tags.join(', ') || 'None'}</Fact>
        </Facts>
      )}
    </Section>
  );
}

const textOf = ({ usage_tags: names }: Pick<Organization, 'usage_tags'>) => names.join(', ');

interface FormProps {
  readonly organization: Organization;
  readonly onDone: () => void;
}

function UsageTagsForm({ organization, onDone }: FormProps) {
  const [text, setText] = useState(() => textOf(organization));
  const [readVersion, setReadVersion] = useState(organization.version);
  const queryClient = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/usage-tags', {
        params: { organization_id: organization.id },
        body: { usage_tags: text.split(/[\s,]+/).filter((name) => name !== ''), version: readVersion },
      }),
    onSuccess: ({ organization: changed }) => {
      queryClient.setQueryData(organizationQuery(organization.id).queryKey, changed);
      toast('Usage tags updated.');
      onDone();
    },
  });
  return (
    <form
      noValidate
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Field
        label="Tags"
        hint="Up to five names, separated by commas, exactly as in the metadata of requests. Requests before the change keep their tags."
      >
        <Input
          spellCheck={false}
          placeholder="None"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </Field>
      <VersionedFormEnd<Organization>
        what="the usage tags"
        save={save}
        onVersion={setReadVersion}
        onDiscard={(current) => setText(textOf(current))}
        onCancel={onDone}
      />
    </form>
  );
}
