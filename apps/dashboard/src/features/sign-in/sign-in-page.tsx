import { ApiError } from '@gateway/dashboard-contract/client';
import { signInErrors } from '@gateway/dashboard-contract/sign-in-errors';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { signInOptionsQuery } from '../../api/sign-in-options';
import { Button, buttonClass } from '../../ui/button';
import { CopyIcon } from '../../ui/copy';
import { Entrance } from '../../ui/entrance';
import { Field, Input, PasswordField } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';
import { insideOnly } from './next';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  const { next, error: failedElsewhere, request_id: requestId } = route.useSearch();
  const { data: options } = useQuery(signInOptionsQuery);
  const [credentials, setCredentials] = useState({ email: '', password: '' });
  const signIn = useSignIn(insideOnly(next));
  const needsCode =
    signIn.error instanceof ApiError &&
    (signIn.error.code === 'second_factor_required' || signIn.error.code === 'second_factor_refused');

  if (needsCode) {
    return <SecondFactor signIn={signIn} credentials={credentials} />;
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(credentials);
  };
  const set = (name: 'email' | 'password') => (value: string) =>
    setCredentials({ ...credentials, [name]: value });

  return (
    <Entrance title="Sign in" lead="Keys, limits, usage and credit of your organization.">
      {failedElsewhere !== undefined && <FailedElsewhere error={failedElsewhere} requestId={requestId} />}
      {options?.oidc && (
        <a
          href={api.address('GET /api/oidc/start', { query: { return_to: insideOnly(next) } })}
          className={buttonClass('secondary')}
        >
          {options.oidc.label}
        </a>
      )}
      <form className="grid gap-4" onSubmit={submit}>
        <Field label="Email">
          <Input
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={credentials.email}
            onChange={({ target }) => set('email')(target.value)}
          />
        </Field>
        <PasswordField label="Password" value={credentials.password} onChange={set('password')} />
        {signIn.error && <FailureLine error={signIn.error} />}
        <Button type="submit" kind="primary" busy={signIn.isPending}>
          Sign in
        </Button>
        {options?.password_reset_by_mail && (
          <Link to="/forgot-password" className="justify-self-start text-sm text-accent hover:underline">
            Forgot the password?
          </Link>
        )}
      </form>
    </Entrance>
  );
}

/** What a single sign-on came back with instead of a session. */
function FailedElsewhere({
  error,
  requestId,
}: {
  readonly error: string;
  readonly requestId: string | undefined;
}) {
  const texts: Readonly<Record<string, string>> = signInErrors;
  return (
    <Notice tone="bad" title={texts[error] ?? 'Signing in did not work.'}>
      {requestId !== undefined && (
        <span className="flex items-center gap-1 font-mono text-xs text-ink-soft">
          {requestId}
          <CopyIcon text={requestId} what="the request id" />
        </span>
      )}
    </Notice>
  );
}

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

function useSignIn(next: string) {
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (body: Credentials) => api.call('POST /api/session', { body }),
    onSuccess: async (session) => {
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      await router.navigate({ href: next, replace: true });
    },
  });
}

interface SecondFactorProps {
  readonly signIn: ReturnType<typeof useSignIn>;
  readonly credentials: Credentials;
}

function SecondFactor({ signIn, credentials }: SecondFactorProps) {
  const [code, setCode] = useState('');
  const refused = signIn.error instanceof ApiError && signIn.error.code === 'second_factor_refused';
  return (
    <Entrance
      title="Second factor"
      lead="Enter the code that your authenticator app shows, or a recovery code."
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate({ ...credentials, code: code.trim() });
        }}
      >
        <Field label="Code" error={refused && !signIn.isPending ? signIn.error?.message : undefined}>
          <Input
            inputMode="text"
            autoComplete="one-time-code"
            required
            autoFocus
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        </Field>
        <Button type="submit" kind="primary" busy={signIn.isPending}>
          Sign in
        </Button>
        <Button kind="quiet" onClick={() => signIn.reset()}>
          Back
        </Button>
      </form>
    </Entrance>
  );
}
