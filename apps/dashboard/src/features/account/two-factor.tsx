import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, PasswordField } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Notice, OnOff } from '../../ui/notice';
import { Section } from '../../ui/page';
import { useToast } from '../../ui/toast';

type Step = 'off' | 'enrol' | 'remove' | 'renew';

export function TwoFactor({ on }: { readonly on: boolean }) {
  const [step, setStep] = useState<Step>('off');
  const [codes, setCodes] = useState<readonly string[]>();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  return (
    <Section
      title={
        <span className="flex items-center gap-2">
          Two-factor authentication <OnOff on={on} />
        </span>
      }
      description="Requires a code from an authenticator app at sign-in."
      actions={
        on ? (
          <>
            <Button small onClick={() => setStep('renew')}>
              New recovery codes
            </Button>
            <Button small kind="danger" onClick={() => setStep('remove')}>
              Turn off
            </Button>
          </>
        ) : (
          <Button small onClick={() => setStep('enrol')}>
            Turn on
          </Button>
        )
      }
    >
      {!on && (
        <p className="text-sm text-ink-soft">
          Protects your account if your password leaks. Recommended for everyone who manages keys.
        </p>
      )}
      <Dialog
        open={step === 'enrol'}
        onOpenChange={() => setStep('off')}
        title="Turn on two-factor authentication"
      >
        <Enrol
          onDone={(recoveryCodes) => {
            setStep('off');
            setCodes(recoveryCodes);
            void refresh();
          }}
        />
      </Dialog>
      <Dialog
        open={step === 'remove'}
        onOpenChange={() => setStep('off')}
        title="Turn off two-factor authentication"
      >
        <PasswordAndCodeForm
          action="Turn off"
          danger
          run={(body) => api.call('POST /api/account/totp/remove', { body })}
          onDone={() => {
            setStep('off');
            void refresh();
          }}
        />
      </Dialog>
      <Dialog
        open={step === 'renew'}
        onOpenChange={() => setStep('off')}
        title="New recovery codes"
        description="Your old codes stop working."
      >
        <PasswordAndCodeForm
          action="Generate codes"
          run={(body) => api.call('POST /api/account/totp/recovery-codes', { body })}
          onDone={(result) => {
            setStep('off');
            setCodes(result?.recovery_codes);
          }}
        />
      </Dialog>
      <Dialog
        persistent
        open={codes !== undefined}
        onOpenChange={() => setCodes(undefined)}
        title="Recovery codes"
        description="Each code works once. They won’t be shown again."
      >
        <div className="grid gap-4">
          <ul className="grid grid-cols-2 gap-x-6 gap-y-1 rounded-md border border-line bg-panel p-4 font-mono text-sm">
            {codes?.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ul>
          <Notice tone="warn">Store them where you can reach them without your phone.</Notice>
          <DialogActions>
            <CopyButton text={codes?.join('\n') ?? ''} what="codes" />
            <Button kind="primary" onClick={() => setCodes(undefined)}>
              Done
            </Button>
          </DialogActions>
        </div>
      </Dialog>
    </Section>
  );
}

function Enrol({ onDone }: { readonly onDone: (recoveryCodes: readonly string[]) => void }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const toast = useToast();
  const start = useMutation({
    mutationFn: () => api.call('POST /api/account/totp/enrol', { body: { password } }),
  });
  const confirm = useMutation({
    mutationFn: () => api.call('POST /api/account/totp/confirm', { body: { code: code.trim() } }),
    onSuccess: ({ recovery_codes: recoveryCodes }) => {
      toast('Two-factor authentication is on.');
      onDone(recoveryCodes);
    },
  });
  if (!start.data) {
    return (
      <DialogForm of={start} action="Continue" onSubmit={() => start.mutate()}>
        <PasswordField label="Password" autoFocus value={password} onChange={setPassword} />
      </DialogForm>
    );
  }
  return (
    <DialogForm of={confirm} action="Turn on" onSubmit={() => confirm.mutate()}>
      <p className="text-sm text-ink-soft">
        Scan this code with your authenticator app, or enter the secret.
      </p>
      <img
        alt="QR code for your authenticator app"
        className="size-44 justify-self-center rounded-md bg-[white] p-2"
        src={`data:image/svg+xml;utf8,${encodeURIComponent(start.data.qr_svg)}`}
      />
      <div className="flex gap-2">
        <Input
          readOnly
          aria-label="Secret"
          className="min-w-0 flex-1 font-mono !text-sm"
          value={start.data.secret}
          onFocus={({ target }) => target.select()}
        />
        <CopyButton text={start.data.secret} what="secret" />
      </div>
      <Field label="Code">
        <Input
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Field>
    </DialogForm>
  );
}

interface PasswordAndCodeFormProps<Result> {
  readonly action: string;
  readonly danger?: boolean;
  readonly run: (body: { readonly password: string; readonly code: string }) => Promise<Result>;
  readonly onDone: (result: Result) => void;
}

function PasswordAndCodeForm<Result>({ action, danger, run, onDone }: PasswordAndCodeFormProps<Result>) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const change = useMutation({
    mutationFn: () => run({ password, code: code.trim() }),
    onSuccess: onDone,
  });
  return (
    <DialogForm of={change} action={action} danger={danger} onSubmit={() => change.mutate()}>
      <PasswordField label="Password" autoFocus value={password} onChange={setPassword} />
      <Field label="Code" hint="From your authenticator app, or a recovery code.">
        <Input
          autoComplete="one-time-code"
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Field>
    </DialogForm>
  );
}
