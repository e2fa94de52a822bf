import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { Entrance } from '../../ui/entrance';
import { Field, Input } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';

export function ForgotPasswordPage() {
  const [email, setEmail] = useState('');
  const ask = useMutation({
    mutationFn: () => api.call('POST /api/password-reset', { body: { email } }),
  });
  return (
    <Entrance title="Choose a new password" lead="We send you a link by which you choose it.">
      {ask.isSuccess ? (
        <Notice tone="good" title="Look into your mail">
          If there is an account of {email}, the link is on its way. It is good for one hour.
        </Notice>
      ) : (
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            ask.mutate();
          }}
        >
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
          {ask.error && <FailureLine error={ask.error} />}
          <Button type="submit" kind="primary" busy={ask.isPending}>
            Send the link
          </Button>
        </form>
      )}
      <Link to="/sign-in" className="text-sm text-accent hover:underline">
        Back to sign in
      </Link>
    </Entrance>
  );
}
