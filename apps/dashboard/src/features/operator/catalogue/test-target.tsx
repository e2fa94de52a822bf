import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { duration } from '../../../format/time';
import { Button } from '../../../ui/button';
import { Field, Input } from '../../../ui/field';
import { Notice } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Text } from '../../../ui/values';

/** Requests one token from a target of the edited text, and shows its error. */
export function TestTarget({ text }: { readonly text: string }) {
  const [model, setModel] = useState('');
  const [target, setTarget] = useState('1');
  const test = useMutation({
    mutationFn: () =>
      api.call('POST /api/operator/catalogue/test', {
        body: { text, model: model.trim(), target: Math.max(0, Number(target) - 1) },
      }),
  });
  const result = test.data?.test;
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        test.mutate();
      }}
    >
      <div className="flex flex-wrap items-end gap-3">
        <Field label="Test the connection of the model">
          <Input
            required
            placeholder="openai/gpt-4.1-mini"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
        </Field>
        <Field label="Target (1: the first)">
          <Input
            type="number"
            min={1}
            max={16}
            required
            className="w-20"
            value={target}
            onChange={(event) => setTarget(event.target.value)}
          />
        </Field>
        <Button type="submit" busy={test.isPending}>
          Request one token
        </Button>
      </div>
      {test.error && <FailureLine error={test.error} />}
      {result &&
        (result.error === null ? (
          <Notice tone="good" title={`The provider responded after ${duration(result.duration_ms)}`} />
        ) : (
          <Notice tone="bad" title={`The test failed after ${duration(result.duration_ms)}`}>
            <Text>{result.error}</Text>
          </Notice>
        ))}
    </form>
  );
}
