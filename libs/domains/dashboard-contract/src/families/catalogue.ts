import { z } from 'zod';
import { endpoint, json, noContent, stream } from '../endpoint';
import { emptyBody, page, pageQuery, time } from '../fields';

const MAX_TEXT_CHARACTERS = 1_500_000;

const text = z
  .string()
  .max(MAX_TEXT_CHARACTERS)
  .meta({ description: 'YAML in the schema of the models file.' });
const number = z.int().min(0);
const comment = z.string().trim().min(1).max(500);
const expectedVersion = number.meta({ description: 'The version in effect; 0 before the first one.' });

const version = z
  .object({
    version: z.int().min(1),
    published_at: time,
    published_by: z.string(),
    comment: z.string(),
    restored_version: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'The version whose text it repeats, if it is a rollback.' }),
  })
  .meta({ id: 'CatalogueVersion' });

const draft = z
  .object({
    revision: z.int().min(1).meta({ description: 'Changes with each save.' }),
    text: z.string(),
    saved_at: time,
    saved_by: z.string(),
  })
  .meta({ id: 'CatalogueDraft' });

const secret = z
  .object({
    name: z.string(),
    hint: z.string().meta({ description: 'The last four characters; empty for short secrets.' }),
    changed_at: time,
    changed_by: z.string(),
    used: z.boolean().meta({ description: 'Whether the version in effect names it.' }),
  })
  .meta({ id: 'ProviderSecret', description: 'An API key of a provider. Its value is never returned.' });

const router = z
  .object({
    name: z.string(),
    version: number.meta({ description: 'The version that it runs; 0 before the first one.' }),
    loaded_at: time,
    reported_at: time,
    rejected_version: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'A later version that it could not load.' }),
  })
  .meta({ id: 'CatalogueRouter' });

const issue = z
  .object({ message: z.string(), line: z.int().min(1).nullable() })
  .meta({ id: 'CatalogueIssue' });

const change = z
  .object({
    kind: z.enum(['provider', 'model']),
    name: z.string().meta({ description: 'The name of the provider, or the ID of the model.' }),
    change: z.enum(['added', 'removed', 'changed']),
    fields: z.array(
      z.object({
        field: z.string().meta({ description: 'Such as `prices.input`.' }),
        before: z.string().nullable().meta({ description: 'Null: not set.' }),
        after: z.string().nullable().meta({ description: 'Null: not set.' }),
      }),
    ),
  })
  .meta({ id: 'CatalogueChange' });

const fields = z.record(z.string(), z.unknown()).meta({
  id: 'CatalogueEntry',
  description: 'The fields of a provider or model as in the models file.',
});

export const affected = z
  .object({
    model: z.string(),
    organizations: number,
    keys: number,
    requests: number,
  })
  .meta({ id: 'AffectedModel', description: 'Who used a changed or removed model within the last 30 days.' });

export const catalogueText = z.strictObject({ text });

export const catalogueCheck = z.object({
  issues: z.array(issue),
  changes: z.array(change).meta({ description: 'Empty for a text with issues.' }),
});

/** A test of a target waits for the provider. */
const TEST_TIMEOUT_MS = 15_000;
const access = 'platform:models';
const published = json(z.object({ version }));

/** Changes are refused with `conflict` while the catalogue is a file. */
export const catalogueEndpoints = {
  state: endpoint({
    method: 'GET',
    path: '/api/operator/catalogue/state',
    owner: 'inference-router',
    access,
    summary: 'Get the text of the catalogue, its draft, stored secrets, and what each router runs',
    response: json(
      z.object({
        source: z
          .enum(['file', 'database'])
          .meta({ description: 'GATEWAY_CATALOGUE. With `file`, the catalogue is read-only.' }),
        text: z.string().meta({ description: 'The text in effect.' }),
        version: version.nullable().meta({ description: 'Null for a file, and before the first version.' }),
        draft: draft.nullable(),
        secrets: z.array(secret),
        routers: z
          .array(router)
          .meta({ description: 'The routers that reported within the last minute; none for a file.' }),
      }),
    ),
  }),
  export: endpoint({
    method: 'GET',
    path: '/api/operator/catalogue/export',
    access,
    summary: 'Download the text in effect as models.yaml',
    response: stream('application/yaml'),
  }),
  versions: endpoint({
    method: 'GET',
    path: '/api/operator/catalogue/versions',
    owner: 'inference-router',
    access,
    summary: 'List the published versions',
    query: pageQuery,
    response: json(page(version)),
  }),
  version: endpoint({
    method: 'GET',
    path: '/api/operator/catalogue/versions/{version}',
    owner: 'inference-router',
    access,
    summary: 'Get a published version with its text, and its changes to the version before it',
    response: json(z.object({ version, text: z.string(), changes: z.array(change) })),
    errors: ['not_found'],
  }),
  check: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/check',
    access,
    summary: 'Check a text, and compare it with the text in effect',
    description: 'Changes nothing. The issues are those of the models file.',
    body: catalogueText,
    response: json(
      catalogueCheck.extend({
        affected: z
          .array(affected)
          .nullable()
          .meta({ description: 'Only models that were used; null when usage is unavailable.' }),
      }),
    ),
  }),
  entries: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/entries',
    owner: 'inference-router',
    access,
    summary: 'Get the providers and models of a text, and the JSON Schema of a text',
    description: 'Without entries if the text is not YAML. Defaults are not filled in.',
    body: catalogueText,
    response: json(
      z.object({
        providers: z.array(fields),
        models: z.array(fields),
        schema: z.record(z.string(), z.unknown()),
      }),
    ),
    errors: ['conflict'],
  }),
  editEntry: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/entries/edit',
    owner: 'inference-router',
    access,
    summary: 'Get a text in which one provider or model is added, replaced or removed',
    description:
      'Changes nothing: the text becomes a draft when it is saved. Its comments and other entries stay as they are.',
    body: z.strictObject({
      text,
      kind: z.enum(['provider', 'model']),
      index: z
        .int()
        .min(0)
        .max(100_000)
        .nullable()
        .meta({ description: 'The position of the entry in its list, from 0; null adds one.' }),
      entry: fields.nullable().meta({ description: 'Null removes it.' }),
    }),
    response: json(z.object({ text: z.string() })),
    errors: ['conflict'],
  }),
  saveDraft: endpoint({
    method: 'PUT',
    path: '/api/operator/catalogue/draft',
    owner: 'inference-router',
    access,
    summary: 'Save the draft',
    description: 'It may have issues. All operators share one draft.',
    body: z.strictObject({
      text,
      expected_revision: number.meta({
        description: 'The revision of the draft that was edited; 0 without one.',
      }),
    }),
    response: json(z.object({ draft })),
    audit: ['catalogue.save_draft'],
    errors: ['conflict'],
  }),
  discardDraft: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/draft/discard',
    owner: 'inference-router',
    access,
    summary: 'Discard the draft',
    body: z.strictObject({ expected_revision: z.int().min(1) }),
    response: noContent,
    audit: ['catalogue.discard_draft'],
    errors: ['conflict'],
  }),
  publish: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/publish',
    owner: 'inference-router',
    access: 'platform:catalogue',
    confirmed: true,
    summary: 'Publish the draft as the next version',
    description:
      'Every router runs it within a second. Requests that started before keep their prices. A draft with issues is refused with `invalid` and `metadata.issues`.',
    body: z.strictObject({
      draft_revision: z.int().min(1),
      expected_version: expectedVersion,
      comment,
    }),
    response: published,
    audit: ['catalogue.publish'],
    errors: ['conflict'],
  }),
  rollBack: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/roll-back',
    owner: 'inference-router',
    access: 'platform:catalogue',
    confirmed: true,
    summary: 'Publish the text of an earlier version as the next version',
    body: z.strictObject({
      version: z.int().min(1),
      expected_version: expectedVersion,
      comment,
    }),
    response: published,
    audit: ['catalogue.roll_back'],
    errors: ['not_found', 'conflict'],
  }),
  setSecret: endpoint({
    method: 'PUT',
    path: '/api/operator/catalogue/secrets',
    owner: 'inference-router',
    access: 'platform:catalogue',
    confirmed: true,
    summary: 'Store or replace an API key of a provider',
    description:
      'Stored encrypted, and never returned. Routers use a new value within a second, without a new version. The first version or test that uses a value ties it to the origins of its providers; a text that would send it elsewhere is refused.',
    body: z.strictObject({ name: z.string().max(63), value: z.string().min(1).max(8_192) }),
    response: json(z.object({ secret })),
    audit: ['provider_secret.set'],
    errors: ['conflict'],
  }),
  deleteSecret: endpoint({
    method: 'DELETE',
    path: '/api/operator/catalogue/secrets/{secret_name}',
    owner: 'inference-router',
    access: 'platform:catalogue',
    confirmed: true,
    summary: 'Delete a stored secret that the version in effect does not use',
    body: emptyBody,
    response: noContent,
    audit: ['provider_secret.delete'],
    errors: ['not_found', 'conflict'],
  }),
  proposePrices: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/proposals',
    owner: 'inference-router',
    access,
    summary: 'Get a text with the published prices of providers plus a margin',
    description: 'Changes nothing: the text becomes a draft when it is saved.',
    body: z.strictObject({
      text,
      margin_percent: z.number().min(-100).max(1_000).meta({ description: 'Added to the published prices.' }),
    }),
    response: json(
      z.object({
        text: z.string(),
        changed_models: z.array(z.string()),
        notes: z
          .array(z.string())
          .meta({ description: 'Why a model has no proposal, or what a proposal leaves out.' }),
        new_models: z
          .array(
            z.object({
              provider: z.string(),
              model: z.string(),
              entry: fields.meta({ description: 'Incomplete: what is published, with the margin.' }),
            }),
          )
          .meta({ description: 'Models with published prices that no target of the text names.' }),
      }),
    ),
    errors: ['conflict'],
  }),
  test: endpoint({
    method: 'POST',
    path: '/api/operator/catalogue/test',
    owner: 'inference-router',
    timeoutMs: TEST_TIMEOUT_MS,
    access: 'platform:catalogue',
    confirmed: true,
    summary: 'Request one token from a target of a text',
    description: 'Costs the operator one token, and no customer anything.',
    body: z.strictObject({
      text,
      model: z.string().max(200),
      target: z.int().min(0).max(15).meta({ description: "Of the model's targets; 0 is the first." }),
    }),
    response: json(
      z.object({
        test: z.object({
          duration_ms: number,
          error: z.string().nullable().meta({
            description:
              'The error of the provider, without secrets; only its status, unless a preset has its host. Null when it responded.',
          }),
        }),
      }),
    ),
    audit: ['target.test'],
    errors: ['not_found', 'conflict'],
  }),
} as const;
