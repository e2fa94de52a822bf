import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { duration } from '../../../format/time';
import { Button } from '../../../ui/button';
import { Field, Select } from '../../../ui/field';
import { Form } from '../../../ui/form';
import { Notice } from '../../../ui/notice';
import { FailureLine } from '../../../ui/states';
import { Text, visible } from '../../../ui/values';
import type { CatalogueEntries } from './check-entry';
import { targetsOf, textOf } from './json-schema';

/** Requests one token from a target of the edited text. */
export function useModelTest(text: string) {
  return useMutation({
    mutationFn: (body: { readonly model: string; readonly target: number }) =>
      api.call('POST /api/operator/catalogue/test', { body: { text, ...body } }),
  });
}

export function TestResult({ of: test }: { readonly of: ReturnType<typeof useModelTest> }) {
  if (test.error) return <FailureLine error={test.error} />;
  const result = test.data?.test;
  if (!result) return null;
  const took = `${duration(result.duration_ms)}`;
  return result.error === null ? (
    <Notice tone="good" title={`The provider responded after ${took}`} />
  ) : (
    <Notice tone="bad" title={`The test failed after ${took}`}>
      <Text>{result.error}</Text>
    </Notice>
  );
}

/** Tests any target of the edited text. */
export function TestModel({ text, entries }: { readonly text: string; readonly entries: CatalogueEntries }) {
  const targets = entries.models.flatMap((model) =>
    targetsOf(model).map((target, index) => ({ model: textOf(model['id']), index, target })),
  );
  const [position, setPosition] = useState(0);
  const chosen = targets[position];
  const test = useModelTest(text);
  if (!chosen) return null;
  return (
    <Form className="grid gap-3" onSubmit={() => test.mutate({ model: chosen.model, target: chosen.index })}>
      <div className="flex flex-wrap items-end gap-3">
        <Field label="Target">
          <Select
            value={position}
            onChange={(event) => {
              setPosition(Number(event.target.value));
              test.reset();
            }}
          >
            {targets.map(({ model, target }, index) => (
              <option key={index} value={index}>
                {visible(`${model} → ${target}`)}
              </option>
            ))}
          </Select>
        </Field>
        <Button type="submit" busy={test.isPending}>
          Request one token
        </Button>
      </div>
      <TestResult of={test} />
    </Form>
  );
}
