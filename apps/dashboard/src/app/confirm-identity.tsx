import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { plainApi } from '../api/client';
import { finishConfirmation, useConfirmationPending } from '../api/confirmation';
import { useSession } from '../api/session';
import { signInOptionsQuery } from '../api/sign-in-options';
import { Button, buttonClass } from '../ui/button';
import { Dialog, DialogActions } from '../ui/dialog';
import { Field, Input, PasswordField } from '../ui/field';
import { DialogForm } from '../ui/form';

/** The dialog that confirms the session for a sensitive change, which then continues. */
export function ConfirmIdentity() {
  const pending = useConfirmationPending();
  return (
    <Dialog
      opaque
      open={pending}
      onOpenChange={() => finishConfirmation(false)}
      title="Confirm it’s you"
      description="This change is sensitive. It stays confirmed for 5 minutes."
    >
      <ConfirmForm />
    </Dialog>
  );
}

/** Unmounts with the dialog, so that it holds no password after closing. */
function ConfirmForm() {
  const { member, second_factor: hasCode, has_password: hasPassword } = useSession();
  const [secret, setSecret] = useState('');
  const confirm = useMutation({
    mutationFn: () =>
      plainApi.call('POST /api/session/confirm', { body: hasCode ? { code: secret } : { password: secret } }),
    onSuccess: () => finishConfirmation(true),
  });
  if (!hasCode && !hasPassword) return <SignOnAgain />;
  return (
    <DialogForm
      of={confirm}
      action="Confirm"
      onSubmit={() => confirm.mutate()}
      onCancel={() => finishConfirmation(false)}
    >
      {/* For password managers. */}
      <input hidden readOnly autoComplete="username" value={member.email} />
      {hasCode ? (
        <Field label="Code" hint="From your authenticator app, or a recovery code.">
          <Input
            autoComplete="one-time-code"
            required
            autoFocus
            value={secret}
            onChange={({ target }) => setSecret(target.value)}
          />
        </Field>
      ) : (
        <PasswordField label="Password" value={secret} onChange={setSecret} />
      )}
    </DialogForm>
  );
}

/** A new single sign-on confirms the session that it opens. */
function SignOnAgain() {
  const { data: options } = useQuery(signInOptionsQuery);
  return (
    <div className="grid gap-4">
      <p className="text-sm">Your account has no password here. Sign in again, then repeat the change.</p>
      <DialogActions>
        <Button onClick={() => finishConfirmation(false)}>Cancel</Button>
        {options?.oidc && (
          <a
            className={buttonClass('primary')}
            href={plainApi.url('GET /api/oidc/start', { query: { return_to: window.location.pathname } })}
          >
            {options.oidc.label}
          </a>
        )}
      </DialogActions>
    </div>
  );
}
