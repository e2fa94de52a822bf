import { ApiError } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { plainApi } from '../api/client';
import { resumeAfterSignIn, useSessionExpired } from '../api/session-expiry';
import { sessionQuery, useSession, type Session } from '../api/session';
import { signInOptionsQuery } from '../api/sign-in-options';
import { Button, buttonClass } from '../ui/button';
import { Dialog, DialogActions } from '../ui/dialog';
import { Field, Input, PasswordField } from '../ui/field';
import { Form } from '../ui/form';
import { FailureLine } from '../ui/states';
import { Email } from '../ui/values';

/** The sign-in dialog over the page when the session has expired. */
export function SignInAgain() {
  const expired = useSessionExpired();
  const { member } = useSession();
  return (
    <Dialog
      persistent
      opaque
      open={expired}
      onOpenChange={() => undefined}
      title="Sign in again"
      description={
        <>
          Your session has expired. Sign in as <Email>{member.email}</Email> to continue where you left off.
        </>
      }
    >
      <SignInForm />
    </Dialog>
  );
}

/** Unmounts with the dialog, so that it holds no password after closing. */
function SignInForm() {
  const { member, has_password: hasPassword } = useSession();
  const { data: options } = useQuery(signInOptionsQuery);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const resume = useResume();
  useSignInElsewhere(resume);
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string; code?: string }) =>
      plainApi.call('POST /api/session', { body }),
    onSuccess: resume,
  });
  const refusal = signIn.error instanceof ApiError ? signIn.error.code : undefined;
  const needsCode = refusal === 'second_factor_required' || refusal === 'second_factor_refused';
  return (
    <Form
      onSubmit={() =>
        signIn.mutate({ email: member.email, password, ...(code === '' ? {} : { code: code.trim() }) })
      }
    >
      {/* For password managers. */}
      <input hidden readOnly autoComplete="username" value={member.email} />
      {hasPassword && <PasswordField label="Password" value={password} onChange={setPassword} />}
      {(needsCode || code !== '') && (
        <Field label="Code" hint="From your authenticator app, or a recovery code.">
          <Input
            autoComplete="one-time-code"
            required
            autoFocus
            value={code}
            onChange={({ target }) => setCode(target.value)}
          />
        </Field>
      )}
      {signIn.error && refusal !== 'second_factor_required' && <FailureLine error={signIn.error} />}
      {options?.oidc && (
        <a
          className={buttonClass('secondary')}
          href={plainApi.url('GET /api/oidc/start', { query: { return_to: '/account' } })}
          target="_blank"
          rel="noreferrer"
        >
          {options.oidc.label} in a new tab
        </a>
      )}
      <DialogActions>
        <Button kind="quiet" onClick={() => window.location.assign('/sign-in')}>
          Leave page
        </Button>
        {hasPassword && (
          <Button type="submit" kind="primary" busy={signIn.isPending}>
            Sign in
          </Button>
        )}
      </DialogActions>
    </Form>
  );
}

/** Resumes waiting reads. A different person gets a fresh page. */
function useResume(): (session: Session) => void {
  const queryClient = useQueryClient();
  const { member } = useSession();
  return useCallback(
    (session) => {
      if (session.member.id !== member.id) return window.location.reload();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      resumeAfterSignIn();
      // Queries that failed instead of waiting.
      void queryClient.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
    },
    [queryClient, member.id],
  );
}

/** Detects a sign-in in another tab when this one is focused. */
function useSignInElsewhere(resume: (session: Session) => void): void {
  useEffect(() => {
    const check = () => {
      if (document.visibilityState !== 'visible') return;
      // Still signed out: keep the dialog open.
      plainApi.call('GET /api/session').then(resume, () => undefined);
    };
    document.addEventListener('visibilitychange', check);
    window.addEventListener('focus', check);
    return () => {
      document.removeEventListener('visibilitychange', check);
      window.removeEventListener('focus', check);
    };
  }, [resume]);
}
