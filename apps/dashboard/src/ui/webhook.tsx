import { Button } from './button';
import { CopyButton } from './copy';
import { Dialog, DialogActions } from './dialog';
import { Checkbox, Field, Input } from './field';

interface WebhookFieldsProps {
  /** What is known of the stored webhook; its path is never shown. Null: there is none. */
  readonly stored: string | null;
  readonly placeholder: string;
  readonly url: string;
  readonly onUrl: (url: string) => void;
  readonly removed: boolean;
  readonly onRemoved: (removed: boolean) => void;
}

/** A new URL replaces the stored one; an empty one keeps it. */
export function WebhookFields({ stored, placeholder, url, onUrl, removed, onRemoved }: WebhookFieldsProps) {
  return (
    <>
      <Field
        label={stored === null ? 'Webhook URL' : 'New webhook URL'}
        optional
        hint={stored === null ? 'Receives a signed POST request with JSON.' : `Leave empty to keep ${stored}`}
      >
        <Input
          type="url"
          disabled={removed}
          placeholder={placeholder}
          value={url}
          onChange={({ target }) => onUrl(target.value)}
        />
      </Field>
      {stored !== null && (
        <Checkbox
          label="Remove the webhook"
          checked={removed}
          onChange={({ target }) => onRemoved(target.checked)}
        />
      )}
    </>
  );
}

/** Shows the signing secret of a new webhook once. */
export function WebhookSecret({
  secret,
  onDone,
}: {
  readonly secret: string | undefined;
  readonly onDone: () => void;
}) {
  return (
    <Dialog
      persistent
      open={secret !== undefined}
      onOpenChange={onDone}
      title="Webhook signing secret"
      description="Copy it now; you won’t see it again."
    >
      <div className="grid gap-4">
        <Input readOnly aria-label="Secret" className="font-mono" value={secret ?? ''} />
        <DialogActions>
          <CopyButton text={secret ?? ''} what="secret" />
          <Button kind="primary" onClick={onDone}>
            Done
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}
