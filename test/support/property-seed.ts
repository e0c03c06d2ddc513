import fc from 'fast-check'

/** Property tests draw the same examples every time, so that a red run means a change; PROPERTY_SEED draws others. */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) })
