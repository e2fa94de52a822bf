import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { modelsQuery } from '../../api/models';
import type { Organization } from '../../api/organizations';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { Fact, Facts } from '../../ui/page';
import { VersionedFormEnd } from '../../ui/versioned-form';
import { EditableSection } from './editable-section';
import { namesIn } from './names';
import { useOrganizationChange } from './use-organization-change';

type Rules = Organization['target_rules'];

const LISTS = [
  { field: 'allowed_providers', label: 'Allowed providers', none: 'All', of: 'provider' },
  { field: 'denied_providers', label: 'Denied providers', none: 'None', of: 'provider' },
  { field: 'allowed_regions', label: 'Allowed regions', none: 'All', of: 'region' },
  { field: 'denied_regions', label: 'Denied regions', none: 'None', of: 'region' },
] as const;

/** The providers and regions that requests may be sent to. */
export function TargetRules({ organization }: { readonly organization: Organization }) {
  return (
    <EditableSection
      organization={organization}
      title="Providers and regions"
      description="Requests are sent only to allowed providers and regions. Models without an allowed target are not available."
      permission="organization:targets"
      action="Change providers and regions"
      form={(onDone) => <TargetRulesForm organization={organization} onDone={onDone} />}
    >
      <Facts>
        {LISTS.map(({ field, label, none }) => (
          <Fact key={field} name={label}>
            {organization.target_rules[field].join(', ') || none}
          </Fact>
        ))}
      </Facts>
    </EditableSection>
  );
}

type Values = Readonly<Record<keyof Rules, string>>;

function valuesOf(rules: Rules): Values {
  const text = (field: keyof Rules) => rules[field].join(', ');
  return {
    allowed_providers: text('allowed_providers'),
    denied_providers: text('denied_providers'),
    allowed_regions: text('allowed_regions'),
    denied_regions: text('denied_regions'),
  };
}

interface FormProps {
  readonly organization: Organization;
  readonly onDone: () => void;
}

function TargetRulesForm({ organization, onDone }: FormProps) {
  const [values, setValues] = useState(() => valuesOf(organization.target_rules));
  const { data: models = [] } = useQuery(modelsQuery);
  const { save, setReadVersion } = useOrganizationChange({
    organization,
    send: (version) =>
      api.call('PUT /api/organizations/{organization_id}/target-rules', {
        params: { organization_id: organization.id },
        body: {
          allowed_providers: namesIn(values.allowed_providers),
          denied_providers: namesIn(values.denied_providers),
          allowed_regions: namesIn(values.allowed_regions),
          denied_regions: namesIn(values.denied_regions),
          version,
        },
      }),
    saved: 'Providers and regions updated.',
    onDone,
  });
  const places = models.flatMap(({ target_places: all }) => all);
  const known = {
    provider: namesOf(places.map(({ provider }) => provider)),
    region: namesOf(places.map(({ region }) => region)),
  };
  const hintOf = (field: keyof Rules, of: keyof typeof known) =>
    `${known[of].length === 0 ? '' : `In the catalogue: ${known[of].join(', ')}.`}${
      field === 'allowed_regions' ? ' A provider without a region is excluded.' : ''
    }`.trim();
  /** Possibly misspelled; a warning only, since a target may be added to the catalogue later. */
  const unknownIn = (field: keyof Rules, of: keyof typeof known) => {
    const names = new Set(known[of].map((name) => name.toLowerCase()));
    return models.length === 0 ? [] : namesIn(values[field]).filter((name) => !names.has(name.toLowerCase()));
  };
  return (
    <Form noValidate className="grid gap-5" onSubmit={() => save.mutate()}>
      <p className="text-sm text-ink-soft">
        Names, separated by commas. Leave empty for no restriction. A denied name is denied even if it is also
        allowed.
      </p>
      <div className="grid gap-5 sm:grid-cols-2">
        {LISTS.map(({ field, label, none, of }) => {
          const unknown = unknownIn(field, of);
          return (
            <Field
              key={field}
              label={label}
              hint={
                <>
                  {hintOf(field, of)}{' '}
                  {unknown.length > 0 && (
                    <span className="font-medium text-warn">
                      No available model uses: {unknown.join(', ')}.
                    </span>
                  )}
                </>
              }
            >
              <Input
                spellCheck={false}
                placeholder={none}
                value={values[field]}
                onChange={({ target }) => setValues({ ...values, [field]: target.value })}
              />
            </Field>
          );
        })}
      </div>
      <VersionedFormEnd<Organization>
        what="these lists"
        save={save}
        onVersion={setReadVersion}
        onDiscard={({ target_rules }) => setValues(valuesOf(target_rules))}
        onCancel={onDone}
      />
    </Form>
  );
}

function namesOf(names: readonly (string | null)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== null))].sort();
}
