import { useState } from 'react';
import { api } from '../../api/client';
import type { Organization } from '../../api/organizations';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { Fact, Facts } from '../../ui/page';
import { VersionedFormEnd } from '../../ui/versioned-form';
import { EditableSection } from './editable-section';
import { namesIn } from './names';
import { useOrganizationChange } from './use-organization-change';

/** The entries of the metadata of requests by which usage is summed. */
export function UsageTags({ organization }: { readonly organization: Organization }) {
  return (
    <EditableSection
      organization={organization}
      title="Usage tags"
      description="Entries of the metadata of requests, such as customer_id. Their values are stored with each generation, and usage can be grouped by them. Other metadata is not stored."
      permission="organization:limits"
      action="Change usage tags"
      form={(onDone) => <UsageTagsForm organization={organization} onDone={onDone} />}
    >
      <Facts>
        <Fact name="Tags">{organization.usage_tags.join(', ') || 'None'}</Fact>
      </Facts>
    </EditableSection>
  );
}

const textOf = ({ usage_tags: names }: Pick<Organization, 'usage_tags'>) => names.join(', ');

interface FormProps {
  readonly organization: Organization;
  readonly onDone: () => void;
}

function UsageTagsForm({ organization, onDone }: FormProps) {
  const [text, setText] = useState(() => textOf(organization));
  const { save, setReadVersion } = useOrganizationChange({
    organization,
    send: (version) =>
      api.call('PUT /api/organizations/{organization_id}/usage-tags', {
        params: { organization_id: organization.id },
        body: { usage_tags: namesIn(text), version },
      }),
    saved: 'Usage tags updated.',
    onDone,
  });
  return (
    <Form noValidate className="grid gap-5" onSubmit={() => save.mutate()}>
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
    </Form>
  );
}
