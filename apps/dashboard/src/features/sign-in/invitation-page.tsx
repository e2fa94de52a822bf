import { ApiError } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { relativeTime } from '../../format/time';
import { Button, buttonClass } from '../../ui/button';
import { AuthLayout } from '../../ui/auth-layout';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { Text, visible } from '../../ui/values';
import { clearLinkToken, useLinkToken } from './link-token';
import { NewPassword } from './new-password-fields';

export function InvitationPage() {
  const token = useLinkToken();
  const session = useQuery(sessionQuery);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.call('POST /api/invitations/look-up', { body: bodyOf(token) }),
  });
  if (invitation.error) {
    return (
      <AuthLayout title="Invitation">
        {invitation.error instanceof ApiError && invitation.error.code === 'link_not_valid' ? (
          <InvalidLink />
        ) : (
          <Failure error={invitation.error} what="invitation" onRetry={() => void invitation.refetch()} />
        )}
      </AuthLayout>
    );
  }
  if (!invitation.data || session.isPending) {
    return (
      <AuthLayout title="Invitation">
        <SkeletonRows rows={3} />
      </AuthLayout>
    );
  }
  const { organization, email, role, expires_at: expiresAt, has_account: hasAccount } = invitation.data;
  const signedInAs = session.data?.member.email;
  return (
    <AuthLayout
      title={`Join ${visible(organization.name)}`}
      lead={
        <>
          <Text>{email}</Text> is invited as {role}. The invitation expires {relativeTime(expiresAt)}.
        </>
      }
    >
      {hasAccount && signedInAs?.toLowerCase() !== email.toLowerCase() ? (
        <>
          <Notice>
            {signedInAs === undefined
              ? 'Sign in to accept the invitation.'
              : 'You are signed in with another account. Sign in with the invited account.'}
          </Notice>
          <Link to="/sign-in" search={{ next: '/invitation' }} className={buttonClass('primary')}>
            Sign in
          </Link>
        </>
      ) : (
        <Accept token={token} needsPassword={!hasAccount} />
      )}
    </AuthLayout>
  );
}

/**
 * Without a token in the URL, the API uses the cookie of the last lookup, for example after a sign-in
 * or a reload.
 */
const bodyOf = (token: string) => (token === '' ? {} : { token });

function InvalidLink() {
  return (
    <>
      <Notice tone="bad" title="The link no longer works">
        It was used or cancelled, or is older than 7 days. Request a new invitation.
      </Notice>
      <Link to="/sign-in" className={buttonClass('secondary')}>
        Sign in
      </Link>
    </>
  );
}

function Accept({ token, needsPassword }: { readonly token: string; readonly needsPassword: boolean }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () =>
      api.call('POST /api/invitations/accept', {
        body: { ...bodyOf(token), ...(needsPassword ? { password, name } : {}) },
      }),
    onSuccess: async (state) => {
      clearLinkToken();
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, state);
      await navigate({ to: '/' });
    },
  });
  return (
    <Form onSubmit={() => accept.mutate()}>
      {needsPassword && (
        <>
          <Field label="Your name" optional hint="Shown next to your email.">
            <Input
              autoComplete="name"
              maxLength={100}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </Field>
          <NewPassword label="Choose a password" value={password} onChange={setPassword} />
        </>
      )}
      {accept.error && <FailureLine error={accept.error} />}
      <Button type="submit" kind="primary" busy={accept.isPending}>
        Accept invitation
      </Button>
    </Form>
  );
}
