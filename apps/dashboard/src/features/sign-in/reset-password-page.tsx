import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button, buttonClass } from '../../ui/button';
import { AuthLayout } from '../../ui/auth-layout';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';
import { Form } from '../../ui/form';
import { clearLinkToken, useLinkToken } from './link-token';
import { NewPassword } from './new-password-fields';

export function ResetPasswordPage() {
  const token = useLinkToken();
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () => api.call('POST /api/password-reset/complete', { body: { token, password } }),
    onSuccess: clearLinkToken,
  });
  if (reset.isSuccess) {
    return (
      <AuthLayout title="Password changed">
        <Notice tone="good">All sessions were signed out. Sign in with your new password.</Notice>
        <Link to="/sign-in" className={buttonClass('primary')}>
          Sign in
        </Link>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Choose a new password">
      <Form onSubmit={() => reset.mutate()}>
        <NewPassword value={password} onChange={setPassword} />
        {reset.error && <FailureLine error={reset.error} />}
        <Button type="submit" kind="primary" busy={reset.isPending}>
          Change password
        </Button>
      </Form>
    </AuthLayout>
  );
}
