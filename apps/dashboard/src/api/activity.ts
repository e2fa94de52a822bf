/** Requests this long after the last input are still caused by it. */
const RECENT_INPUT_MS = 60_000;

const INPUT_EVENTS = ['keydown', 'pointerdown', 'touchmove', 'wheel'] as const;

/** Opening the page is input too. */
let lastInputAt = Date.now();

const onInput = () => {
  lastInputAt = Date.now();
};

/** Starts to notice input. Returns the function that stops it. */
export function watchInput(): () => void {
  const options = { capture: true, passive: true };
  for (const name of INPUT_EVENTS) window.addEventListener(name, onInput, options);
  return () => {
    for (const name of INPUT_EVENTS) window.removeEventListener(name, onInput, options);
  };
}

/** Whether no person is using the page, so that its requests must not extend the session. */
export const isUnattended = () => Date.now() - lastInputAt > RECENT_INPUT_MS;
