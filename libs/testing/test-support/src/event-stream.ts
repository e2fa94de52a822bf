/** The data of every server-sent event in a complete stream, including "[DONE]"; comments are skipped. */
export function eventDataOf(text: string): string[] {
  return text
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => line.slice('data: '.length));
}
