// Loaded before the gateway. Shifts its clock by GATEWAY_TEST_CLOCK_SHIFT_MS from the start, and by
// GATEWAY_TEST_CLOCK_STEP_MS more with each SIGUSR2. Tests use it to create days of history with real requests, and to
// let sessions expire without waiting.
let shiftMs = Number(process.env.GATEWAY_TEST_CLOCK_SHIFT_MS ?? 0);
const stepMs = Number(process.env.GATEWAY_TEST_CLOCK_STEP_MS ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shiftMs);
    else super(...args);
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
};
process.on('SIGUSR2', () => {
  shiftMs += stepMs;
});
