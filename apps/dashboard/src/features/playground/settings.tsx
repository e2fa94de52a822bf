import type { OfferedModel } from '../../api/models';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { Checkbox, Field, Input, Select, TextArea } from '../../ui/field';
import { Money } from '../../ui/values';
import { EXAMPLE_TOOLS, toolsIn } from './request';

export interface PlaygroundSettings {
  readonly system: string;
  readonly maxTokens: string;
  readonly tools: string;
  readonly stream: boolean;
}

interface SettingsProps {
  readonly model: OfferedModel;
  readonly models: readonly OfferedModel[];
  readonly onModel: (id: string) => void;
  readonly settings: PlaygroundSettings;
  readonly onSettings: (settings: PlaygroundSettings) => void;
}

export function Settings({ model, models, onModel, settings, onSettings }: SettingsProps) {
  const set = (changes: Partial<PlaygroundSettings>) => onSettings({ ...settings, ...changes });
  const takesTools = model.capabilities.includes('tools');
  return (
    <aside
      aria-label="Settings"
      className="grid content-start gap-5 max-lg:border-t max-lg:border-line max-lg:pt-5"
    >
      <div className="grid gap-2">
        <Field label="Model">
          <Select value={model.id} onChange={({ target }) => onModel(target.value)}>
            {models.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </Select>
        </Field>
        <p className="text-xs text-ink-soft">
          <Money usd={model.prices.input_usd_per_million} /> in,{' '}
          <Money usd={model.prices.output_usd_per_million} /> out, per million tokens. Context of{' '}
          {count(model.context_length)}.
        </p>
      </div>
      <Field label="Instructions" optional>
        <TextArea rows={3} value={settings.system} onChange={({ target }) => set({ system: target.value })} />
      </Field>
      <Field
        label="Most output tokens"
        optional
        error={
          settings.maxTokens !== '' && !/^[1-9]\d{0,8}$/.test(settings.maxTokens.trim())
            ? 'A whole number from 1, or nothing.'
            : undefined
        }
      >
        <Input
          inputMode="numeric"
          placeholder={model.max_output_tokens === null ? undefined : String(model.max_output_tokens)}
          value={settings.maxTokens}
          onChange={({ target }) => set({ maxTokens: target.value })}
        />
      </Field>
      {takesTools && (
        <div className="grid gap-2">
          <Field
            label="Tools"
            optional
            hint="A JSON list, as the API takes it."
            error={toolsIn(settings.tools) === undefined ? 'This is no list in JSON.' : undefined}
          >
            <TextArea
              rows={settings.tools === '' ? 2 : 8}
              spellCheck={false}
              className="font-mono !text-xs"
              value={settings.tools}
              onChange={({ target }) => set({ tools: target.value })}
            />
          </Field>
          {settings.tools === '' && (
            <Button small className="justify-self-start" onClick={() => set({ tools: EXAMPLE_TOOLS })}>
              Use an example
            </Button>
          )}
        </div>
      )}
      <Checkbox
        label="Stream the answer"
        checked={settings.stream}
        onChange={({ target }) => set({ stream: target.checked })}
      />
    </aside>
  );
}
