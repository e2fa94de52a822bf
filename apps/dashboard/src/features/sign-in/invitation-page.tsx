import { ApiError } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { relativeTime } from '../../format/time';
import { Button, buttonClass } from '../../ui/button';
import { Entrance } from '../../ui/entrance';
import { Notice } from '../../ui/notice';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { Text, visible } from '../../ui/values';
import { forgetLinkToken, useLinkToken } from './link-token';
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
      <Entrance title="Invitation">
        {invitation.error instanceof ApiError && invitation.error.code === 'link_not_valid' ? (
          <NotValid />
        ) : (
          <Failure error={invitation.error} what="the invitation" onRetry={() => void invitation.refetch()} />
        )}
      </Entrance>
    );
  }
  if (!invitation.data || session.isPending) {
    return (
      <Entrance title="Invitation">
        <SkeletonRows rows={3} />
      </Entrance>
    );
  }
  const { organization, email, role, expires_at: expiresAt, has_account: hasAccount } = invitation.data;
  const signedInAs = session.data?.member.email;
  return (
    <Entrance
      title={`Join ${visible(organization.name)}`}
      lead={
        <>
          <Text>{email}</Text> is invited as {role}. The invitation ends {relativeTime(expiresAt)}.
        </>
      }
    >
      {hasAccount && signedInAs?.toLowerCase() !== email.toLowerCase() ? (
        <>
          <Notice>
            {signedInAs === undefined
              ? 'You have an account: sign in with it, and you come back here.'
              : 'You are signed in as somebody else: sign in as the person who is invited, and you come back here.'}
          </Notice>
          <Link to="/sign-in" search={{ next: '/invitation' }} className={buttonClass('primary')}>
            Sign in
          </Link>
        </>
      ) : (
        <Accept token={token} needsPassword={!hasAccount} />
      )}
    </Entrance>
  );
}

/** Without one in the address it is that of before: whoever signs in on the way, or loads the page again, goes on with it. */
const bodyOf = (token: string) => (token === '' ? {} : { token });

function NotValid() {
  return (
    <>
      <Notice tone="bad" title="This link is not valid any more">
        It was used, called off, or is older than seven days. Ask whoever invited you for a new one.
      </Notice>
      <Link to="/sign-in" className={buttonClass('secondary')}>
        Sign in
      </Link>
    </>
  );
}

function Accept({ token, needsPassword }: { readonly token: string; readonly needsPassword: boolean }) {
  const [password, setPassword] = useState('');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () =>
      api.call('POST /api/invitations/accept', {
        body: { ...bodyOf(token), ...(needsPassword ? { password } : {}) },
      }),
    onSuccess: async (state) => {
      forgetLinkToken();
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, state);
      await navigate({ to: '/' });
    },
  });
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        accept.mutate();
      }}
    >
      {needsPassword && <NewPassword label="Choose a password" value={password} onChange={setPassword} />}
      {accept.error && <FailureLine error={accept.error} />}
      <Button type="submit" kind="primary" busy={accept.isPending}>
        Accept the invitation
      </Button>
    </form>
  );
}
