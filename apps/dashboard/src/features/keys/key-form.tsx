import { useQuery } from '@tanstack/react-query';
import { useForm, type FieldErrors, type UseFormReturn } from 'react-hook-form';
import { blockingErrorOf } from '../../api/transient-error';
import type { KeyBounds } from '../../api/keys';
import { modelsQuery } from '../../api/models';
import { activeProjectsQuery } from '../../api/projects';
import { count } from '../../format/count';
import { visible } from '../../format/invisible-characters';
import { exactUsd } from '../../format/money';
import { Checkbox, Field, FieldGroup, Input, Select, TextArea } from '../../ui/field';
import { FailureLine } from '../../ui/states';
import { allowlistError } from './ip-allowlist';
import { BUDGETS, LIMIT_EFFECTS } from './budgets';
import { expiryError, modelsError, type KeyFormValues } from './key-form-values';
import { budgetError, limitError } from './limit-values';
import { OtherBudgetsFields } from './other-budgets';
import { otherBudgetsError } from './other-budget-values';
import { ModelPicker } from './model-picker';

interface KeyFieldsProps {
  readonly organizationId: string;
  readonly form: UseFormReturn<KeyFormValues>;
  /** The upper bounds of the limits; undefined until loaded. */
  readonly bounds: KeyBounds | undefined;
}

export const useKeyForm = (values: KeyFormValues) =>
  useForm<KeyFormValues>({ defaultValues: values, mode: 'onTouched', reValidateMode: 'onChange' });

/** The fields of a key: name, permissions, restrictions and limits. */
export function KeyFields({ organizationId, form, bounds }: KeyFieldsProps) {
  const { register, formState, setValue, watch } = form;
  const { errors } = formState;
  const models = useQuery(modelsQuery);
  const { data: projects = [] } = useQuery(activeProjectsQuery(organizationId));
  const project = projects.find(({ id }) => id === watch('project'));
  register('models', { validate: modelsError });
  register('otherBudgets', { validate: otherBudgetsError });
  return (
    <div className="grid gap-8">
      <div className="grid gap-5">
        <Field label="Name" hint="For example “api-prod”." error={errors.name?.message}>
          <Input
            maxLength={100}
            {...register('name', {
              validate: (name) => name.trim() !== '' || 'Enter a name.',
            })}
          />
        </Field>
        <FieldGroup legend="Permissions" error={errors.chat?.message}>
          <Checkbox
            label="Chat"
            hint="Create chat completions, which spend credit."
            {...register('chat', {
              validate: (chat, { readUsage }) => chat || readUsage || 'Select at least one permission.',
            })}
          />
          <Checkbox
            label="Read usage"
            hint="Read the organization’s balance, generations and usage."
            {...register('readUsage')}
          />
        </FieldGroup>
        <FieldGroup legend="Streaming">
          <Checkbox
            label="JSON in streams"
            hint="Requests may ask for streaming and a JSON response format together, as many libraries do by default. Otherwise they are refused."
            {...register('jsonStreaming')}
          />
        </FieldGroup>
        {projects.length > 0 && (
          <Field
            label="Project"
            optional
            hint="Its keys share its budgets. A change applies to requests from then on."
            error={errors.project?.message}
            className="max-w-80"
          >
            {/* The options may load after the form, so the value is set here. */}
            <Select {...register('project')} value={watch('project')}>
              <option value="">No project</option>
              {projects.map(({ id, name }) => (
                <option key={id} value={id}>
                  {visible(name)}
                </option>
              ))}
            </Select>
          </Field>
        )}
      </div>

      <div className="grid gap-5">
        <h2 className="border-b border-line pb-2 text-base font-semibold">Restrictions</h2>
        <FieldGroup legend="Models" error={errors.models?.message}>
          {blockingErrorOf(models) ? (
            <FailureLine error={models.error} />
          ) : (
            <ModelPicker
              models={models.data}
              chosen={watch('models')}
              onChange={(chosen) =>
                setValue('models', chosen, { shouldDirty: true, shouldValidate: formState.isSubmitted })
              }
            />
          )}
        </FieldGroup>
        <Field
          label="Allowed IPs"
          optional
          hint="One IP address or CIDR range per line. Leave empty to allow any."
          error={errors.addresses?.message}
        >
          <TextArea
            rows={3}
            spellCheck={false}
            className="font-mono !text-sm"
            placeholder={'192.0.2.7\n10.0.0.0/8'}
            {...register('addresses', { validate: allowlistError })}
          />
        </Field>
        <Field
          label="Expiration date"
          optional
          hint="Expires at the end of this day (UTC)."
          error={errors.expiresOn?.message}
          className="max-w-60"
        >
          <Input
            type="date"
            {...register('expiresOn', {
              validate: (day) => expiryError(day, formState.defaultValues?.expiresOn ?? ''),
            })}
          />
        </Field>
      </div>

      <div className="grid gap-5">
        <div className="border-b border-line pb-2">
          <h2 className="text-base font-semibold">Limits</h2>
          <p className="text-sm text-ink-soft">
            Leave empty to use the organization’s limits. Requests that exceed the daily budget get 429,
            another budget 402.
          </p>
        </div>
        <div className="grid gap-5 sm:grid-cols-2">
          <LimitField
            form={form}
            name="requestsPerMinute"
            label="Requests per minute"
            effect={LIMIT_EFFECTS.requests_per_minute}
            bound={bounds?.requests_per_minute}
          />
          <LimitField
            form={form}
            name="tokensPerMinute"
            label="Tokens per minute"
            effect={LIMIT_EFFECTS.tokens_per_minute}
            bound={bounds?.tokens_per_minute}
          />
          <LimitField
            form={form}
            name="concurrency"
            label="Concurrent requests"
            effect={LIMIT_EFFECTS.concurrency}
            bound={bounds?.concurrency}
          />
          {BUDGETS.map(({ field, value, label, reset }) => (
            <Field
              key={field}
              label={`${label} (USD)`}
              optional
              hint={
                project?.[field]
                  ? `Project budget: ${exactUsd(project[field])}. ${reset}`
                  : boundHint(bounds?.[field] && exactUsd(bounds[field]), reset)
              }
              error={errors[value]?.message}
            >
              <Input
                inputMode="decimal"
                placeholder="Organization default"
                {...register(value, {
                  validate: (text) =>
                    project?.[field]
                      ? budgetError(text, project[field], 'Above the project’s budget.')
                      : budgetError(text, bounds?.[field]),
                })}
              />
            </Field>
          ))}
        </div>
        <OtherBudgetsFields
          hasEndUsers
          values={watch('otherBudgets')}
          onChange={(otherBudgets) =>
            setValue('otherBudgets', otherBudgets, {
              shouldDirty: true,
              shouldValidate: formState.isSubmitted,
            })
          }
          error={errors.otherBudgets?.message}
        />
      </div>
    </div>
  );
}

interface LimitFieldProps {
  readonly form: UseFormReturn<KeyFormValues>;
  readonly name: 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency';
  readonly label: string;
  readonly effect: string;
  readonly bound: number | null | undefined;
}

function LimitField({ form, name, label, effect, bound }: LimitFieldProps) {
  const errors: FieldErrors<KeyFormValues> = form.formState.errors;
  return (
    <Field
      label={label}
      optional
      hint={boundHint(typeof bound === 'number' ? count(bound) : bound, effect)}
      error={errors[name]?.message}
    >
      <Input
        inputMode="numeric"
        placeholder="Organization default"
        {...form.register(name, { validate: (text) => limitError(text, bound) })}
      />
    </Field>
  );
}

function boundHint(bound: string | null | undefined, more = ''): string {
  const own =
    bound === undefined ? '' : bound === null ? 'No organization limit.' : `Organization limit: ${bound}.`;
  return `${own} ${more}`.trim();
}
