import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Checkbox, Field, TextArea } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { WebhookFields } from '../../ui/webhook';

interface NotificationSettingsFormProps {
  readonly settings: Result<'GET /api/operator/notifications'>['settings'];
  /** With the signing secret of a new webhook. */
  readonly onDone: (webhookSecret: string | undefined) => void;
  readonly onCancel: () => void;
}

export function NotificationSettingsForm({ settings, onDone, onCancel }: NotificationSettingsFormProps) {
  const [emailEnabled, setEmailEnabled] = useState(settings.email_enabled);
  const [emails, setEmails] = useState(settings.extra_emails.join('\n'));
  const [webhook, setWebhook] = useState('');
  const [removesWebhook, setRemovesWebhook] = useState(false);
  const url = webhook.trim();
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /api/operator/notifications/settings', {
        body: {
          email_enabled: emailEnabled,
          extra_emails: emails.split(/[\s,;]+/).filter(Boolean),
          ...(removesWebhook ? { webhook_url: '' } : url === '' ? {} : { webhook_url: url }),
        },
      }),
    onSuccess: ({ webhook_secret: secret }) => onDone(secret ?? undefined),
  });
  return (
    <DialogForm of={save} action="Save" noValidate onSubmit={() => save.mutate()} onCancel={onCancel}>
      <Checkbox
        label="Email every operator"
        checked={emailEnabled}
        onChange={({ target }) => setEmailEnabled(target.checked)}
      />
      <Field label="Further email recipients" optional hint="One address per line.">
        <TextArea rows={3} value={emails} onChange={({ target }) => setEmails(target.value)} />
      </Field>
      <WebhookFields
        stored={settings.webhook_host}
        placeholder="https://example.com/incidents"
        url={webhook}
        onUrl={setWebhook}
        removed={removesWebhook}
        onRemoved={setRemovesWebhook}
      />
    </DialogForm>
  );
}
