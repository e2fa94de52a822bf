import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { sessionQuery } from '../../api/session';
import { Button } from '../../ui/button';
import { PasswordField } from '../../ui/field';
import { Form } from '../../ui/form';
import { Section } from '../../ui/page';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { NewPassword } from '../sign-in/new-password-fields';

export function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const queryClient = useQueryClient();
  const toast = useToast();
  const change = useMutation({
    mutationFn: () =>
      api.call('PUT /api/account/password', { body: { current_password: current, new_password: next } }),
    onSuccess: async (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session);
      setCurrent('');
      setNext('');
      toast('Password changed. Your other sessions were signed out.');
      await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  return (
    <Section title="Password" description="Changing your password signs out your other sessions.">
      <Form onSubmit={() => change.mutate()}>
        <div className="grid gap-4 sm:grid-cols-2">
          <PasswordField label="Current password" value={current} onChange={setCurrent} />
          <NewPassword value={next} onChange={setNext} />
        </div>
        {change.error && <FailureLine error={change.error} />}
        <Button type="submit" className="justify-self-start" busy={change.isPending}>
          Change password
        </Button>
      </Form>
    </Section>
  );
}
