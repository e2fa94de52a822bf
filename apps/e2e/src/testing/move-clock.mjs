// Loaded before the gateway: its clock runs beside that of the machine, by GATEWAY_TEST_CLOCK_SHIFT_MS from the start
// on, and by GATEWAY_TEST_CLOCK_STEP_MS more with each SIGUSR2. So days of history are made by real requests, and
// sessions end without anybody waiting for it.
let shiftMs = Number(process.env.GATEWAY_TEST_CLOCK_SHIFT_MS ?? 0);
const stepMs = Number(process.env.GATEWAY_TEST_CLOCK_STEP_MS ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shiftMs);
    else super(...parts);
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
};
process.on('SIGUSR2', () => {
  shiftMs += stepMs;
});
