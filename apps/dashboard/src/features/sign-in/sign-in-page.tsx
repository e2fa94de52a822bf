import { ApiError } from '@gateway/dashboard-contract/client';
import { signInErrors, type SignInErrorCode } from '@gateway/dashboard-contract/sign-in-errors';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { signInOptionsQuery } from '../../api/sign-in-options';
import { Button, buttonClass } from '../../ui/button';
import { CopyIcon } from '../../ui/copy';
import { AuthLayout } from '../../ui/auth-layout';
import { Field, Input, PasswordField } from '../../ui/field';
import { Form } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';
import { sanitizeReturnPath } from './return-path';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  const { next, error: ssoError, request_id: requestId } = route.useSearch();
  const { data: options } = useQuery(signInOptionsQuery);
  const [credentials, setCredentials] = useState({ email: '', password: '' });
  const signIn = useSignIn(sanitizeReturnPath(next));
  const needsCode =
    signIn.error instanceof ApiError &&
    (signIn.error.code === 'second_factor_required' || signIn.error.code === 'second_factor_refused');

  if (needsCode) {
    return <TwoFactorForm signIn={signIn} credentials={credentials} />;
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(credentials);
  };
  const set = (name: 'email' | 'password') => (value: string) =>
    setCredentials({ ...credentials, [name]: value });

  return (
    <AuthLayout title="Sign in" lead="Manage keys, limits, usage and credit.">
      {ssoError !== undefined && <SsoError error={ssoError} requestId={requestId} />}
      {options?.oidc && (
        <a
          href={api.url('GET /api/oidc/start', { query: { return_to: sanitizeReturnPath(next) } })}
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
        {options?.password_reset_by_email && (
          <Link to="/forgot-password" className="justify-self-start text-sm text-accent hover:underline">
            Forgot password?
          </Link>
        )}
      </form>
    </AuthLayout>
  );
}

interface SsoErrorProps {
  readonly error: SignInErrorCode;
  readonly requestId: string | undefined;
}

/** The error of a failed single sign-on. */
function SsoError({ error, requestId }: SsoErrorProps) {
  return (
    <Notice tone="bad" title={signInErrors[error]}>
      {requestId !== undefined && (
        <span className="flex flex-wrap items-center gap-1 text-xs text-ink-soft">
          Request ID: <code className="font-mono [overflow-wrap:anywhere]">{requestId}</code>
          <CopyIcon text={requestId} what="request ID" />
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

interface TwoFactorFormProps {
  readonly signIn: ReturnType<typeof useSignIn>;
  readonly credentials: Credentials;
}

function TwoFactorForm({ signIn, credentials }: TwoFactorFormProps) {
  const [code, setCode] = useState('');
  const refused = signIn.error instanceof ApiError && signIn.error.code === 'second_factor_refused';
  return (
    <AuthLayout
      title="Two-factor authentication"
      lead="Enter the code from your authenticator app, or a recovery code."
    >
      <Form onSubmit={() => signIn.mutate({ ...credentials, code: code.trim() })}>
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
      </Form>
    </AuthLayout>
  );
}
