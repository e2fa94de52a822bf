import { useQuery } from '@tanstack/react-query';
import { useForm, type FieldErrors, type UseFormReturn } from 'react-hook-form';
import { failureOf } from '../../api/failure';
import type { KeyBounds } from '../../api/keys';
import { modelsQuery } from '../../api/models';
import { count } from '../../format/count';
import { exactUsd } from '../../format/money';
import { Checkbox, Field, FieldGroup, Input, TextArea } from '../../ui/field';
import { FailureLine } from '../../ui/states';
import { faultOfAddresses } from './addresses';
import { faultOfBudget, faultOfCap, type KeyFormValues } from './key-form-values';
import { ModelPicker } from './model-picker';

interface KeyFieldsProps {
  readonly form: UseFormReturn<KeyFormValues>;
  /** What the caps are at or below; undefined while it is not known. */
  readonly bounds: KeyBounds | undefined;
}

export const useKeyForm = (values: KeyFormValues) =>
  useForm<KeyFormValues>({ defaultValues: values, mode: 'onTouched', reValidateMode: 'onChange' });

/** All that a key may and may not, in the order in which one thinks of it. */
export function KeyFields({ form, bounds }: KeyFieldsProps) {
  const { register, formState, setValue, watch } = form;
  const { errors } = formState;
  const models = useQuery(modelsQuery);
  return (
    <div className="grid gap-8">
      <div className="grid gap-5">
        <Field label="Name" hint="Such as the program and where it runs." error={errors.name?.message}>
          <Input
            maxLength={100}
            {...register('name', {
              validate: (name) => name.trim() !== '' || 'A key needs a name, so that you know it again.',
            })}
          />
        </Field>
        <FieldGroup legend="May" error={errors.chat?.message}>
          <Checkbox
            label="Chat"
            hint="Ask models; this costs credit."
            {...register('chat', {
              validate: (chat, { readUsage }) => chat || readUsage || 'A key that may nothing is of no use.',
            })}
          />
          <Checkbox
            label="Read usage"
            hint="See balance, generations and usage of the organization."
            {...register('readUsage')}
          />
        </FieldGroup>
      </div>

      <div className="grid gap-5">
        <h2 className="border-b border-line pb-2 text-base font-semibold">Restrictions</h2>
        <FieldGroup legend="Models" hint="Calls to others are refused.">
          {failureOf(models) ? (
            <FailureLine error={models.error} />
          ) : (
            <ModelPicker
              models={models.data}
              chosen={watch('models')}
              onChange={(chosen) => setValue('models', chosen, { shouldDirty: true })}
            />
          )}
        </FieldGroup>
        <Field
          label="Addresses"
          optional
          hint="One address or CIDR range a line, IPv4 or IPv6. Empty: from everywhere."
          error={errors.addresses?.message}
        >
          <TextArea
            rows={3}
            spellCheck={false}
            className="font-mono !text-sm"
            placeholder={'192.0.2.7\n10.0.0.0/8'}
            {...register('addresses', { validate: faultOfAddresses })}
          />
        </Field>
        <Field
          label="Expires"
          optional
          hint="Works until the end of this day, UTC."
          error={errors.expiresOn?.message}
          className="max-w-60"
        >
          <Input type="date" {...register('expiresOn')} />
        </Field>
      </div>

      <div className="grid gap-5">
        <div className="border-b border-line pb-2">
          <h2 className="text-base font-semibold">Limits</h2>
          <p className="text-sm text-ink-soft">
            Each at or below the organization’s. Empty: no limit of its own; the organization’s applies all
            the same.
          </p>
        </div>
        <div className="grid gap-5 sm:grid-cols-2">
          <Cap
            form={form}
            name="requestsPerMinute"
            label="Requests per minute"
            bound={bounds?.requests_per_minute}
          />
          <Cap
            form={form}
            name="tokensPerMinute"
            label="Tokens per minute"
            bound={bounds?.tokens_per_minute}
          />
          <Cap form={form} name="concurrency" label="Requests at once" bound={bounds?.concurrency} />
          <Field
            label="Daily budget, US dollars"
            optional
            hint={boundHint(
              bounds?.daily_budget_usd === undefined || bounds.daily_budget_usd === null
                ? bounds?.daily_budget_usd
                : exactUsd(bounds.daily_budget_usd),
              'Starts anew at 00:00 UTC.',
            )}
            error={errors.dailyBudget?.message}
          >
            <Input
              inputMode="decimal"
              placeholder="No limit"
              {...register('dailyBudget', {
                validate: (text) => faultOfBudget(text, bounds?.daily_budget_usd),
              })}
            />
          </Field>
        </div>
      </div>
    </div>
  );
}

interface CapProps {
  readonly form: UseFormReturn<KeyFormValues>;
  readonly name: 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency';
  readonly label: string;
  readonly bound: number | null | undefined;
}

function Cap({ form, name, label, bound }: CapProps) {
  const errors: FieldErrors<KeyFormValues> = form.formState.errors;
  return (
    <Field
      label={label}
      optional
      hint={boundHint(typeof bound === 'number' ? count(bound) : bound)}
      error={errors[name]?.message}
    >
      <Input
        inputMode="numeric"
        placeholder="No limit"
        {...form.register(name, { validate: (text) => faultOfCap(text, bound) })}
      />
    </Field>
  );
}

function boundHint(bound: string | null | undefined, more = ''): string {
  const own =
    bound === undefined
      ? ''
      : bound === null
        ? 'The organization has no limit.'
        : `At most ${bound}, the organization’s.`;
  return `${own} ${more}`.trim();
}
