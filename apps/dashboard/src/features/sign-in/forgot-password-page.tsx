import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { AuthLayout } from '../../ui/auth-layout';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';

export function ForgotPasswordPage() {
  const [email, setEmail] = useState('');
  const request = useMutation({
    mutationFn: () => api.call('POST /api/password-reset', { body: { email } }),
  });
  return (
    <AuthLayout title="Reset password" lead="We’ll email you a link to choose a new password.">
      {request.isSuccess ? (
        <Notice tone="good" title="Check your inbox">
          If an account exists for {email}, we’ve sent a link. It expires in 1 hour.
        </Notice>
      ) : (
        <Form onSubmit={() => request.mutate()}>
          <Field label="Email">
            <Input
              type="email"
              autoComplete="username"
              required
              autoFocus
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          </Field>
          {request.error && <FailureLine error={request.error} />}
          <Button type="submit" kind="primary" busy={request.isPending}>
            Send link
          </Button>
        </Form>
      )}
      <Link to="/sign-in" className="text-sm text-accent hover:underline">
        Back to sign in
      </Link>
    </AuthLayout>
  );
}
