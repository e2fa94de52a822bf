import type { OfferedModel } from '../../api/models';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { Checkbox, Field, Input, Select, TextArea } from '../../ui/field';
import { Money } from '../../ui/values';
import { EXAMPLE_TOOLS, issuesOf } from './request';

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
  const supportsTools = model.capabilities.includes('tools');
  const issues = issuesOf(settings);
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
          <Money usd={model.prices.input_usd_per_million} digits="all" /> input,{' '}
          <Money usd={model.prices.output_usd_per_million} digits="all" /> output per 1M tokens. Context
          window: {count(model.context_length)} tokens.
        </p>
      </div>
      <Field label="System instructions" optional hint="Sent as the first message of each request.">
        <TextArea rows={3} value={settings.system} onChange={({ target }) => set({ system: target.value })} />
      </Field>
      <Field
        label="Max output tokens"
        optional
        hint="Lowers the maximum cost. Leave empty for the largest output of the model and the organization."
        error={issues.maxTokens}
      >
        <Input
          inputMode="numeric"
          placeholder={model.max_output_tokens === null ? undefined : String(model.max_output_tokens)}
          value={settings.maxTokens}
          onChange={({ target }) => set({ maxTokens: target.value })}
        />
      </Field>
      {supportsTools && (
        <div className="grid gap-2">
          <Field label="Tools" optional hint="A JSON array of tool definitions." error={issues.tools}>
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
              Insert example
            </Button>
          )}
        </div>
      )}
      <Checkbox
        label="Stream response"
        checked={settings.stream}
        onChange={({ target }) => set({ stream: target.checked })}
      />
    </aside>
  );
}
