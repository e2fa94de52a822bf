import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, PasswordField } from '../../ui/field';
import { Badge, Notice } from '../../ui/notice';
import { Section } from '../../ui/page';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';

type Step = 'off' | 'enrol' | 'remove' | 'renew';

/** A code of an authenticator app beside the password. */
export function SecondFactor({ on }: { readonly on: boolean }) {
  const [step, setStep] = useState<Step>('off');
  const [codes, setCodes] = useState<readonly string[]>();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  return (
    <Section
      title={
        <span className="flex items-center gap-2">
          Second factor {on ? <Badge tone="good">On</Badge> : <Badge tone="faint">Off</Badge>}
        </span>
      }
      description="A code of an authenticator app, asked for at sign-in beside the password."
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
          With it a password alone is of no use to whoever finds it. Whoever manages keys should have it.
        </p>
      )}
      <Dialog open={step === 'enrol'} onOpenChange={() => setStep('off')} title="Turn the second factor on">
        <Enrol
          onDone={(recoveryCodes) => {
            setStep('off');
            setCodes(recoveryCodes);
            void refresh();
          }}
        />
      </Dialog>
      <Dialog open={step === 'remove'} onOpenChange={() => setStep('off')} title="Turn the second factor off">
        <WithPasswordAndCode
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
        description="The old ones are good for nothing then."
      >
        <WithPasswordAndCode
          action="Make new codes"
          run={(body) => api.call('POST /api/account/totp/recovery-codes', { body })}
          onDone={(answer) => {
            setStep('off');
            setCodes(answer?.recovery_codes);
          }}
        />
      </Dialog>
      <Dialog
        insistent
        open={codes !== undefined}
        onOpenChange={() => setCodes(undefined)}
        title="Recovery codes"
        description="Each signs you in once in place of a code. They are not shown again."
      >
        <div className="grid gap-4">
          <ul className="grid grid-cols-2 gap-x-6 gap-y-1 rounded-md border border-line bg-panel p-4 font-mono text-sm">
            {codes?.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ul>
          <Notice tone="warn">Keep them where you find them without your phone.</Notice>
          <DialogActions>
            <CopyButton text={codes?.join('\n') ?? ''} what="the codes" />
            <Button kind="primary" onClick={() => setCodes(undefined)}>
              I have kept them
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
  const begin = useMutation({
    mutationFn: () => api.call('POST /api/account/totp/enrol', { body: { password } }),
  });
  const confirm = useMutation({
    mutationFn: () => api.call('POST /api/account/totp/confirm', { body: { code: code.trim() } }),
    onSuccess: ({ recovery_codes: recoveryCodes }) => {
      toast('The second factor is on.');
      onDone(recoveryCodes);
    },
  });
  if (!begin.data) {
    return (
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          begin.mutate();
        }}
      >
        <PasswordField
          label="Your password"
          hint="So that nobody does this at a screen that you left."
          autoFocus
          value={password}
          onChange={setPassword}
        />
        {begin.error && <FailureLine error={begin.error} />}
        <DialogActions>
          <Button type="submit" kind="primary" busy={begin.isPending}>
            Go on
          </Button>
        </DialogActions>
      </form>
    );
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <p className="text-sm text-ink-soft">
        Read this with your authenticator app, or type the secret into it.
      </p>
      <img
        alt="QR code of the secret for your authenticator app"
        className="size-44 justify-self-center rounded-md bg-[white] p-2"
        src={`data:image/svg+xml;utf8,${encodeURIComponent(begin.data.qr_svg)}`}
      />
      <div className="flex gap-2">
        <Input
          readOnly
          aria-label="The secret"
          className="min-w-0 flex-1 font-mono !text-sm"
          value={begin.data.secret}
          onFocus={({ target }) => target.select()}
        />
        <CopyButton text={begin.data.secret} what="it" />
      </div>
      <Field label="The code that it shows now">
        <Input
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Field>
      {confirm.error && <FailureLine error={confirm.error} />}
      <DialogActions>
        <Button type="submit" kind="primary" busy={confirm.isPending}>
          Turn on
        </Button>
      </DialogActions>
    </form>
  );
}

interface WithPasswordAndCodeProps<Answer> {
  readonly action: string;
  readonly danger?: boolean;
  readonly run: (body: { readonly password: string; readonly code: string }) => Promise<Answer>;
  readonly onDone: (answer: Answer) => void;
}

function WithPasswordAndCode<Answer>({ action, danger, run, onDone }: WithPasswordAndCodeProps<Answer>) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const change = useMutation({
    mutationFn: () => run({ password, code: code.trim() }),
    onSuccess: onDone,
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <PasswordField label="Your password" autoFocus value={password} onChange={setPassword} />
      <Field label="Code" hint="Of your authenticator app, or a recovery code.">
        <Input
          autoComplete="one-time-code"
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Field>
      {change.error && <FailureLine error={change.error} />}
      <DialogActions>
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={change.isPending}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
