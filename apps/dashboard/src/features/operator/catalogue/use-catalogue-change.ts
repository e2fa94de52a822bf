import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CHANGED_QUERIES } from './catalogue-state';

/** A change of the catalogue. Afterwards everything that shows the catalogue is read again, also when it is refused. */
export function useCatalogueChange<Input, Output>(
  change: (input: Input) => Promise<Output>,
  onDone?: (output: Output) => void,
) {
  const queryClient = useQueryClient();
  const readAgain = () =>
    Promise.all(CHANGED_QUERIES.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: change,
    onSuccess: async (output) => {
      await readAgain();
      onDone?.(output);
    },
    onError: () => void readAgain(),
  });
}
