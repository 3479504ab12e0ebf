/** Of a recorded process: some hundreds of keys are sealed and merged many times. */
export const KEY_SIZES = { generationKeys: 128, sealedAfterMs: 500 };
