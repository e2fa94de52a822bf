import { ApiError } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { plainApi } from '../api/client';
import { signedInAgain, useSessionHasEnded } from '../api/ended-session';
import { sessionQuery, useSession, type Session } from '../api/session';
import { signInOptionsQuery } from '../api/sign-in-options';
import { Button, buttonClass } from '../ui/button';
import { Dialog, DialogActions } from '../ui/dialog';
import { Field, Input, PasswordField } from '../ui/field';
import { FailureLine } from '../ui/states';
import { Email } from '../ui/values';

/** Over the page when its session has ended, so that the page stays as it is until the same person is back. */
export function SignInAgain() {
  const ended = useSessionHasEnded();
  const { member } = useSession();
  return (
    <Dialog
      insistent
      opaque
      open={ended}
      onOpenChange={() => undefined}
      title="Sign in again"
      description={
        <>
          Your session has ended. The page stays as you left it, <Email>{member.email}</Email>.
        </>
      }
    >
      <AgainForm />
    </Dialog>
  );
}

/** Apart from its dialog, so that no password is kept when it closes. */
function AgainForm() {
  const { member, has_password: hasPassword } = useSession();
  const { data: options } = useQuery(signInOptionsQuery);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const goOn = useGoOn();
  useSignInElsewhere(goOn);
  const signIn = useMutation({
    mutationFn: (body: { email: string; password: string; code?: string }) =>
      plainApi.call('POST /api/session', { body }),
    onSuccess: goOn,
  });
  const refusal = signIn.error instanceof ApiError ? signIn.error.code : undefined;
  const needsCode = refusal === 'second_factor_required' || refusal === 'second_factor_refused';
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate({ email: member.email, password, ...(code === '' ? {} : { code: code.trim() }) });
      }}
    >
      {/* For password managers. */}
      <input hidden readOnly autoComplete="username" value={member.email} />
      {hasPassword && <PasswordField label="Password" value={password} onChange={setPassword} />}
      {(needsCode || code !== '') && (
        <Field label="Code" hint="Of your authenticator app, or a recovery code.">
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
          href={plainApi.address('GET /api/oidc/start', { query: { return_to: '/account' } })}
          target="_blank"
          rel="noreferrer"
        >
          {options.oidc.label}, in another tab; then come back
        </a>
      )}
      <DialogActions>
        <Button kind="quiet" onClick={() => window.location.assign('/sign-in')}>
          Leave the page
        </Button>
        {hasPassword && (
          <Button type="submit" kind="primary" busy={signIn.isPending}>
            Sign in
          </Button>
        )}
      </DialogActions>
    </form>
  );
}

/** What the page was waiting for goes on. Somebody else begins with a page of their own. */
function useGoOn(): (session: Session) => void {
  const queryClient = useQueryClient();
  const { member } = useSession();
  return useCallback(
    (session) => {
      if (session.member.id !== member.id) return window.location.reload();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      signedInAgain();
      // Of what does not wait by itself, such as estimates.
      void queryClient.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
    },
    [queryClient, member.id],
  );
}

/** Whoever comes back to this tab may have signed in in another one. */
function useSignInElsewhere(goOn: (session: Session) => void): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== 'visible') return;
      // Nobody is: then this page goes on asking.
      plainApi.call('GET /api/session').then(goOn, () => undefined);
    };
    document.addEventListener('visibilitychange', look);
    window.addEventListener('focus', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('focus', look);
    };
  }, [goOn]);
}
